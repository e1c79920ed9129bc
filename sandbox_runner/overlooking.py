"""Looks over a runner's host, beside its walls: secrets, certificates, room, clock, the broker (`probe`).

Law: as of `looking.py`: nothing is changed, no secret is shown, and a thing that is wrong comes with its next step.
"""

import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from sandbox_runner.errors import RunnerError
from sandbox_runner.looking import Finding, State, certificate, clock, space
from sandbox_runner.settings import Settings, read_secret


async def looked_over(settings: Settings, now: datetime) -> list[Finding]:
    """Look at everything that the settings name."""
    told = [*_secrets(settings), *_certificates(settings, now), *_room(settings)]
    named = (settings.secret_file, settings.nats_seed_file, settings.tls_cert, settings.tls_key)
    told.append(clock(now, [path for path in named if path is not None]))
    if settings.nats:
        told.append(await _broker(settings))
    return told


def _secrets(settings: Settings) -> Iterator[Finding]:
    for thing, path in (("secret", settings.secret_file), ("seed", settings.nats_seed_file)):
        if path is None:
            continue
        try:
            read_secret(path)
        except RunnerError as fault:
            step = (
                "on the bot's host it is the same file"
                if thing == "secret"
                else "deploy/nats/users.py add NAME --seed FILE"
            )
            yield Finding(thing, State.BAD, str(fault), step)
        else:
            yield Finding(thing, State.OK, f"{path} can be read, and not by others")


def _certificates(settings: Settings, now: datetime) -> Iterator[Finding]:
    for thing, path in (("tls", settings.tls_cert), ("authority", settings.nats_ca_file)):
        if path is not None:
            yield from certificate(thing, path, now)
    if settings.listen and None in {settings.tls_cert, settings.tls_key}:
        step = "name both: TASREE_RUNNER_TLS_CERT, TASREE_RUNNER_TLS_KEY"
        yield Finding("tls", State.BAD, f"{settings.listen} without a certificate and its key", step)


def _room(settings: Settings) -> Iterator[Finding]:
    step = "make room: jobs write there, and so does torch's compiler"
    yield space("disk", Path(tempfile.gettempdir()), step)
    if not settings.lock.parent.is_dir():
        yield Finding(
            "lock",
            State.BAD,
            f"there is no folder {settings.lock.parent}",
            "make it, or name another in TASREE_RUNNER_LOCK",
        )


async def _broker(settings: Settings) -> Finding:
    try:
        from sandbox_runner.broker.line import Broker  # noqa: PLC0415 - the extra `nats` may not be installed
        from sandbox_runner.broker.seen import broker_seen  # noqa: PLC0415
    except ModuleNotFoundError as fault:
        return Finding(
            "broker", State.BAD, f"jobs from a broker need the extra `nats`: {fault}", "pip install 'tasree[nats]'"
        )
    if not settings.name:
        return Finding("broker", State.BAD, "this runner has no name there", "give it one in TASREE_RUNNER_NAME")
    return await broker_seen(Broker(settings.nats, settings.nats_seed_file, settings.nats_ca_file), settings.name)
