"""Keep who may connect to the broker: make a bot's or a runner's key, and write users.conf with what each may do.

Law: a runner may say that it lives, take its own jobs, and tell of them; nothing else. A key's secret half is written
to one file for its own host, and to no other place.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import nkeys

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
BOT = {
    "publish": ["jobs.*.*", "runs.*", "results.*.*", "dead.*.*", "cancel.*", "bots.*", "$JS.API.>", "$JS.ACK.DEAD.>"],
    "subscribe": ["_INBOX.>", "alive.*", "progress.*.*", "bots.*"],
}


def runner(name: str) -> dict[str, list[str]]:
    """Say what a runner may publish and hear."""
    return {
        "publish": [
            f"alive.{name}",
            f"progress.{name}.*",
            f"results.{name}.*",
            f"$JS.API.CONSUMER.MSG.NEXT.JOBS.{name}",
            f"$JS.ACK.JOBS.{name}.>",
        ],
        "subscribe": [f"_INBOX.{name}.>", f"cancel.{name}"],
    }


def conf(users: dict[str, list[str]]) -> str:
    """Write users.conf: `users` maps `bot` and the runners' names to their public keys, the newest last."""
    lines = [
        "# Written by users.py; not to be edited.",
        "accounts {",
        "  TASREE {",
        "    jetstream: enabled",
        "    users: [",
    ]
    for name, keys in sorted(users.items()):
        allowed = BOT if name == "bot" else runner(name)
        rules = ", ".join(f"{verb}: {{ allow: {json.dumps(subjects)} }}" for verb, subjects in allowed.items())
        lines += [f"      # {name}", *(f"      {{ nkey: {key}, permissions: {{ {rules} }} }}" for key in keys)]
    return "\n".join([*lines, "    ]", "  }", "}", ""])


def new_key() -> tuple[bytes, str]:
    """Make a user's key: its seed and its public half."""
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    return bytes(seed), nkeys.from_seed(bytearray(seed)).public_key.decode()


def main(words: Sequence[str]) -> int:
    """Carry out one command and give the exit status."""
    parser = argparse.ArgumentParser(description="Make and withdraw keys of the broker's users.")
    parser.add_argument(
        "--folder", type=Path, default=Path("/etc/nats"), help="where users.json and users.conf are kept"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add", help="make a key; an older one of the same name goes on until `keep-newest`")
    add.add_argument("name", help="`bot`, or a runner's name")
    add.add_argument(
        "--seed", type=Path, required=True, help="the file to write the secret half to, for its host alone"
    )
    for command, what in (
        ("keep-newest", "withdraw the older keys of a name"),
        ("remove", "withdraw all keys of a name"),
    ):
        commands.add_parser(command, help=what).add_argument("name")
    call = parser.parse_args(words)
    if not NAME.fullmatch(call.name):
        print(f"{call.name!r} is not 1 to 32 of a-z, 0-9 and inner hyphens", file=sys.stderr)
        return 2
    kept = call.folder / "users.json"
    users: dict[str, list[str]] = json.loads(kept.read_text()) if kept.exists() else {}
    if call.command != "add" and call.name not in users:
        print(f"{call.name}: no such user; there are {', '.join(sorted(users)) or 'none'}", file=sys.stderr)
        return 2
    match call.command:
        case "add":
            seed, public = new_key()
            with os.fdopen(os.open(call.seed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                out.write(seed + b"\n")
            users.setdefault(call.name, []).append(public)
        case "keep-newest":
            users[call.name] = users[call.name][-1:]
        case _:
            del users[call.name]
    for place, text in ((kept, json.dumps(users, indent=1) + "\n"), (call.folder / "users.conf", conf(users))):
        fresh = place.with_suffix(place.suffix + ".new")
        fresh.write_text(text)
        fresh.replace(place)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
