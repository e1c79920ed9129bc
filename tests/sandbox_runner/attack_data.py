"""Reads the attacks that are kept as data. Also a program: runs those on stdin and prints their results, a line each.

As a program it is started as an ordinary user, with the learners' interpreter: argv is the learners' python, a folder
and the way to confine.
"""

import ast
import asyncio
import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

ATTACKS = Path(__file__).with_name("attacks")


def all_attacks() -> list[dict[str, Any]]:
    """Give every attack: the shared ones, then our own."""
    shared = json.loads((ATTACKS / "shared.json").read_text(encoding="utf-8"))
    ours = (
        tomllib.loads((ATTACKS / name).read_text(encoding="utf-8"))["attack"] for name in ("own.toml", "third.toml")
    )
    return [*shared, *(attack for attacks in ours for attack in attacks)]


def named_attacks(name: str) -> list[dict[str, Any]]:
    """Give the attacks whose ids the list `name` holds."""
    ids = json.loads((ATTACKS / name).read_text(encoding="utf-8"))
    by_id = {attack["id"]: attack for attack in all_attacks()}
    return [by_id[one] for one in ids]


def differences(way: str) -> dict[str, dict[str, Any]]:
    """Give what is known to differ under `runsc` or for an `ordinary_user`: an attack's id to its endings, and why.

    Without endings it is not run there at all.
    """
    found = tomllib.loads((ATTACKS / "differences.toml").read_text(encoding="utf-8"))
    return {one["id"]: one for one in found.get(way, [])}


def endings_of(attack: dict[str, Any], way: str) -> list[str]:
    """Give the endings that are right for an attack under a way to confine; none: it is not run there."""
    other = differences(way).get(attack["id"])
    return list(attack["endings"] if other is None else other.get("endings", ()))


def at_full(attack: dict[str, Any], small: dict[str, Any]) -> dict[str, Any]:
    """Give what lies over the full limits for an attack: what scales it down only if it is sized for that."""
    if attack.get("scaled"):
        return {**small, **attack.get("limits", {})}
    return {name: value for name, value in attack.get("limits", {}).items() if name == "cpu_s" or value > 10}


def source_of(attack: dict[str, Any]) -> str:
    """Give the learner's source of an attack."""
    if "code_expression" in attack:
        return _evaluated(attack["code_expression"])
    return str(attack.get("cells", "{code}").replace("{code}", attack["code"]))


def _evaluated(expression: str) -> str:
    """Give a source too long or too odd to be written down: a literal, or a literal times a number."""
    tree = ast.parse(expression, mode="eval").body
    if isinstance(tree, ast.BinOp):
        return str(ast.literal_eval(tree.left)) * int(ast.literal_eval(tree.right))
    return str(ast.literal_eval(tree))


async def _main() -> None:
    from sandbox_runner.codec import encode  # noqa: PLC0415 - only as a program
    from sandbox_runner.protocol import Job, JobKind, Limits, Machine, Progress  # noqa: PLC0415
    from sandbox_runner.sandbox.bubblewrap import open_bubblewrap  # noqa: PLC0415
    from sandbox_runner.sandbox.host import SandboxSettings  # noqa: PLC0415
    from sandbox_runner.sandbox.probing import probe  # noqa: PLC0415
    from sandbox_runner.worker import SandboxWorker  # noqa: PLC0415

    order = json.loads(sys.stdin.read())
    sandbox = await open_bubblewrap(SandboxSettings(sys.argv[1], folder=sys.argv[2]))
    worker = SandboxWorker(sandbox, Machine(), walls=sandbox.walls, grace_s=1.0)

    def silent(_: Progress) -> None:
        return None

    if order["probe"]:
        walls = await probe(lambda job, slot: worker.run_job(job, slot, silent), sandbox.setting)
        print(json.dumps(encode(walls)), flush=True)  # noqa: T201 - a program's answer
    for attack in order["attacks"]:
        limits = replace(Limits(**order["limits"]), **attack.get("limits", {}))
        job = Job(attack["id"], JobKind(attack.get("kind", "run")), source_of(attack), "learner", limits=limits)
        result = await worker.run_job(job, 0, silent)
        print(json.dumps(encode(result)), flush=True)  # noqa: T201 - a program's answer
    await sandbox.close()


if __name__ == "__main__":
    asyncio.run(_main())
