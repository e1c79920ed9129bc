"""The runner's commands: serve, run, time and probe.

Law: the exit status is 0 whenever a result was obtained, a learner's error included; 2 for a wrong call, 3 when the
runner could not give one, 130 when it was cancelled.
"""

import argparse
import asyncio
import json
import secrets
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sandbox_runner.assembly import assemble, prepare_giving_way
from sandbox_runner.codec import encode
from sandbox_runner.dispatch import ALONE
from sandbox_runner.errors import RunnerError
from sandbox_runner.hostlock import HostLock
from sandbox_runner.looking import as_text
from sandbox_runner.overlooking import looked_over
from sandbox_runner.printing import show_gauge, show_result, show_walls
from sandbox_runner.protocol import Budget, Device, Ending, Job, JobKind, Progress, Reached, Result, limits_for
from sandbox_runner.serving import Assemble, proven, serve, stderr_journal, with_wall
from sandbox_runner.settings import Settings, broker, host_and_port, read_settings, runner_name

NO_RESULT, INTERRUPTED = 3, 130
WRONG_CALL = 2
INTERRUPTED = 130


class WrongCallError(Exception):
    """The command line names something that is not there or cannot be read."""


_FITTING = {"nats": "nats://localhost:4222", "name": "none"}
"""Stands where an option is not given, so that there is nothing to read."""

_KINDS = (
    ("run", "run a file"),
    ("time", "time a file's variants against each other"),
    ("inspect", "look into a file's variants: graph breaks, kernels, operations, memory"),
)


def main(words: Sequence[str], assemble: Assemble = assemble) -> int:
    """Carry out one command and give the exit status."""
    call = _parser().parse_args(words)
    try:
        settings = _settings(call)
        match call.command:
            case "serve":
                asyncio.run(serve(settings, assemble, stderr_journal(), call.secret_fd))
                return 0
            case "prepare":
                return asyncio.run(_prepare(settings, call.files))
            case "probe":
                return asyncio.run(_probe(settings, assemble, as_json=call.json))
            case _:
                return asyncio.run(_one_job(call, settings, assemble))
    except WrongCallError as fault:
        print(f"sandbox_runner {call.command}: {fault}", file=sys.stderr)
        return WRONG_CALL
    except RunnerError as fault:
        print(f"sandbox_runner {call.command}: {fault}", file=sys.stderr)
        return NO_RESULT
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m sandbox_runner", description="Run and time strangers' Python in walls.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_serve(commands.add_parser("serve", help="serve bots on a Unix socket, on TCP with TLS, or through a broker"))
    for name, what in _KINDS:
        one = commands.add_parser(name, help=what)
        one.add_argument("file", metavar="FILE", help="a Python file; - reads standard input")
        one.add_argument("--json", action="store_true", help="print the result as JSON")
        one.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where it runs; never elsewhere")
        one.add_argument("--gpus", metavar="N", type=_count(64), default=1, help="on how many GPUs at once; with cuda")
        one.add_argument("--run-s", metavar="S", type=_count(3600), help="how long its own code may take, in seconds")
        one.add_argument("--memory-mib", metavar="M", type=_count(1 << 20), help="how much memory it may have")
        if name == "time":
            one.add_argument("--budget", choices=[budget.value for budget in Budget], default=Budget.DEFAULT.value)
    prepare = commands.add_parser("prepare", help="keep what torch's compiler makes of files of ours, for warm starts")
    prepare.add_argument("files", metavar="FILE", nargs="+", help="a Python file; every job may read what comes of it")
    probe = commands.add_parser("probe", help="try every wall from inside and say which stand")
    probe.add_argument("--json", action="store_true", help="print the capabilities as JSON")
    return parser


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--socket", metavar="PATH", help="a Unix socket to make, of mode 600")
    parser.add_argument("--listen", metavar="HOST:PORT", help="TCP with TLS; without a host, loopback")
    parser.add_argument("--tls-cert", metavar="FILE", help="PEM certificate chain")
    parser.add_argument("--tls-key", metavar="FILE", help="PEM private key")
    parser.add_argument("--secret-file", metavar="FILE", help="the secret that bots must know")
    parser.add_argument("--nats", metavar="URL", help="take jobs from a broker: nats+tls://HOST:PORT, here nats://")
    parser.add_argument("--name", metavar="NAME", help="this runner's name at the broker")
    parser.add_argument("--slots", metavar="N", type=_count(256), help="how many jobs run at once")
    parser.add_argument("--accept-missing", metavar="NAME", action="append", default=[], help="a wall to do without")
    # For a bot that starts a runner of its own: a pipe with the secret, whose end means that the bot is gone.
    parser.add_argument("--secret-fd", metavar="N", type=int, help=argparse.SUPPRESS)


def _count(most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:8]) <= most):
            message = f"{text!r} is not a whole number from 1 to {most}"
            raise argparse.ArgumentTypeError(message)
        return int(text)

    return read


def _settings(call: argparse.Namespace) -> Settings:
    """Read the environment's settings and put the command line's over them."""
    settings = read_settings()
    if call.command != "serve":
        return settings
    if sum(map(bool, (call.socket, call.listen, call.nats))) > 1:
        message = "give --socket, --listen or --nats, not both"
        raise WrongCallError(message)
    for name, read in (("nats", broker), ("name", runner_name)):
        try:
            read(getattr(call, name) or getattr(settings, name) or _FITTING[name])
        except ValueError as fault:
            message = f"--{name} {getattr(call, name)!r} {fault}"
            raise WrongCallError(message) from None
    if call.listen:
        try:
            host_and_port(call.listen)
        except ValueError as fault:
            message = f"--listen {call.listen!r} {fault}"
            raise WrongCallError(message) from None
    settings = replace(
        settings,
        slots=call.slots or settings.slots,
        accept_missing=(*settings.accept_missing, *call.accept_missing),
        tls_cert=Path(call.tls_cert) if call.tls_cert else settings.tls_cert,
        tls_key=Path(call.tls_key) if call.tls_key else settings.tls_key,
        secret_file=Path(call.secret_file) if call.secret_file else settings.secret_file,
    )
    if call.socket or call.listen or call.nats:
        socket = Path(call.socket) if call.socket else None
        settings = replace(settings, socket=socket, listen=call.listen or "", nats=call.nats or "")
    if sum((settings.socket is not None, bool(settings.listen), bool(settings.nats))) != 1:
        message = (
            "one address is needed: --socket PATH, --listen HOST:PORT or --nats URL (or its variable, one of them)"
        )
        raise WrongCallError(message)
    settings = replace(settings, name=call.name or settings.name)
    if settings.nats and not settings.name:
        message = "a runner at a broker needs a name: --name NAME (or TASREE_RUNNER_NAME)"
        raise WrongCallError(message)
    return settings


async def _probe(settings: Settings, assemble: Assemble, *, as_json: bool) -> int:
    host = await looked_over(settings, datetime.now(UTC))
    if not as_json:  # first: what is wrong here may be why nothing else can be said
        print(as_text(host), flush=True)
    assembled = await assemble(settings, 1)
    try:
        walls = await assembled.probe()
        on_gpu = any(wall.name == "cuda" and wall.stands for wall in walls)
        for nursery in assembled.nurseries if on_gpu else assembled.nurseries[:1]:
            await nursery.renew()
            walls = with_wall(walls, nursery.wall())
        found = proven(assembled.capabilities, walls)
        if assembled.gauging is not None:
            async with HostLock(settings.lock).held(alone=True):
                gauge = await assembled.gauging()
            found = replace(found, noise=gauge.noise, ceilings=gauge.ceilings)
        if not as_json:
            print(f"{show_walls(found.walls)}\n{show_gauge(found)}", flush=True)
        if assembled.looking is not None:  # last, for it may take minutes
            more = await assembled.looking(found.devices)
            found = replace(found, walls=found.walls + more)
            if not as_json:
                print(show_walls(more))
        told = encode(found)
        if isinstance(told, dict):
            told["host"] = encode(host)
        if as_json:
            print(json.dumps(told, ensure_ascii=False, indent=2))
    finally:
        await assembled.close()
    return 0


async def _prepare(settings: Settings, names: Sequence[str]) -> int:
    """Prepare files one after the other; 3 when one of them did not end well, or SIGINT or SIGTERM ended it."""
    sources = {name: _read(name, settings.source_bytes)[1] for name in names}
    large = [name for name, source in sources.items() if len(source.encode()) > settings.source_bytes]
    if large:
        message = f"{', '.join(large)}: more than {settings.source_bytes} bytes"
        raise WrongCallError(message)
    preparing = asyncio.create_task(prepare_giving_way(settings, sources, _tell_giving_way))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, preparing.cancel)
    try:
        told = await preparing
    except asyncio.CancelledError:
        print("given up; what was prepared until then is kept", file=sys.stderr)
        return NO_RESULT
    for name, ending in told.items():
        print(f"{name}: {ending}")
    return 0 if set(told.values()) <= {"kept", "plain", Ending.OK.value} else NO_RESULT


def _tell_giving_way() -> None:
    print("a runner of this host waits for what this holds: it goes first, then this goes on", file=sys.stderr)


async def _one_job(call: argparse.Namespace, settings: Settings, assemble: Assemble) -> int:
    """Run one job without a daemon; SIGINT and SIGTERM cancel it, and what came of it is still printed."""
    kind = JobKind(call.command)
    name, source = _read(call.file, settings.source_bytes)
    budget = Budget(call.budget) if kind is JobKind.TIME else Budget.DEFAULT
    device, gpus = Device(call.device), call.gpus
    if device is Device.CPU and gpus > 1:
        message = f"--gpus {gpus} needs --device cuda"
        raise WrongCallError(message)
    limits = limits_for(device, gpus)
    limits = replace(limits, run_s=float(call.run_s)) if call.run_s else limits
    limits = replace(limits, memory_bytes=call.memory_mib << 20) if call.memory_mib else limits
    job = Job(secrets.token_hex(8), kind, source, "operator", device, budget, limits, name, gpus=gpus)
    if len(source.encode()) > settings.source_bytes:
        most = Reached("source_bytes", settings.source_bytes, "bytes")
        result = Result(job.id, kind, Ending.TOO_LARGE, device, reached=most)
    else:
        result = await _run(job, settings, assemble)
    shown = json.dumps(encode(result), ensure_ascii=False, indent=2) if call.json else show_result(result)
    print(shown)
    return {Ending.INFRA_ERROR: NO_RESULT, Ending.CANCELLED: INTERRUPTED}.get(result.ending, 0)


async def _run(job: Job, settings: Settings, assemble: Assemble) -> Result:
    assembled = await assemble(settings, 1)
    try:
        waiting = asyncio.get_running_loop().call_later(1.0, _tell_waiting, job.kind)
        async with HostLock(settings.lock).held(alone=job.kind in ALONE):
            waiting.cancel()
            running = asyncio.create_task(assembled.worker.run_job(job, 0, _tell))
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, running.cancel)
            try:
                return await running
            except asyncio.CancelledError:
                return Result(job.id, job.kind, Ending.CANCELLED, job.device)
    finally:
        await assembled.close()


def _tell_waiting(kind: JobKind) -> None:
    what = "what runs on this host to end" if kind in ALONE else "a measurement on this host to end"
    print(f"waiting for {what}", file=sys.stderr)


def _tell(progress: Progress) -> None:
    if sys.stderr.isatty():
        count = f" {progress.done}/{progress.total}" if progress.total else ""
        print(f"\r\x1b[K{progress.phase.value}{count}", end="", file=sys.stderr, flush=True)


def _read(name: str, most: int) -> tuple[str, str]:
    """Read the file's name and text; of one with more than `most` bytes so much that it is seen to be too large."""
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
            text = file.read(most + 1)
        return ("code.py" if name == "-" else Path(name).name), text.decode(
            errors="replace" if text[most:] else "strict"
        )
    except OSError as fault:
        message = f"{name}: {fault.strerror}"
        raise WrongCallError(message) from None
    except UnicodeDecodeError as fault:
        message = f"{name}: byte {fault.start} is not UTF-8"
        raise WrongCallError(message) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
