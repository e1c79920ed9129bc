"""What `doctor` and `probe` say of a host's things and of its broker: each fault by name, with the next step."""

import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nkeys
import pytest
from nats_server import PLAIN, NatsServer

from sandbox_runner.broker import seen
from sandbox_runner.broker.line import Broker
from sandbox_runner.broker.seen import broker_seen
from sandbox_runner.looking import Finding, State, as_text, certificate, clock, closed, space
from sandbox_runner.overlooking import looked_over
from sandbox_runner.settings import Settings

NOW = datetime.now(UTC)
GUARDED = PLAIN + "authorization {{ users: [ {{ nkey: KEY }} ] }}\n"


def key_pair(folder: Path, name: str) -> tuple[Path, str]:
    """Make a user's seed in a file, and give its public half."""
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    file = folder / f"{name}.nk"
    file.write_bytes(bytes(seed) + b"\n")
    file.chmod(0o600)
    return file, nkeys.from_seed(bytearray(seed)).public_key.decode()


@dataclass(frozen=True, slots=True)
class Guarded:
    server: NatsServer
    right: Path
    wrong: Path


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Guarded]:
    right, public = key_pair(tmp_path, "right")
    wrong, _ = key_pair(tmp_path, "wrong")
    server = NatsServer(tmp_path / "nats", GUARDED.replace("KEY", public))
    await server.start()
    yield Guarded(server, right, wrong)
    server.kill()


def authority(folder: Path, days: int) -> Path:
    """Make a certificate of one's own that holds for so many days."""
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=x",
    ]
    words += ["-days", str(days), "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(words, check=True, capture_output=True)
    return folder / "cert.pem"


def wrong(findings: list[Finding]) -> dict[str, str]:
    found = [each for each in findings if each.state is State.BAD]
    assert all(each.step for each in found)
    return {each.thing: each.step for each in found}


async def test_a_broker_that_answers_is_named_with_its_version(guarded: Guarded) -> None:
    found = await broker_seen(Broker(guarded.server.address, guarded.right), "x")
    assert found.state is State.OK
    assert found.seen.startswith("nats-server 2.")


async def test_a_key_that_the_broker_does_not_know_is_told_with_how_to_make_one(guarded: Guarded) -> None:
    found = await broker_seen(Broker(guarded.server.address, guarded.wrong), "x")
    assert (found.state, "users.py add" in found.step) == (State.BAD, True)


async def test_a_broker_that_is_away_and_one_beyond_this_host_without_tls_are_told(guarded: Guarded) -> None:
    guarded.server.kill()
    away = await broker_seen(Broker(guarded.server.address, guarded.right), "x")
    assert (away.state, "systemctl status nats-server" in away.step) == (State.BAD, True)
    open_ = await broker_seen(Broker("nats://broker.example:4222", guarded.right), "x")
    assert (open_.state, "nats+tls://" in open_.step) == (State.BAD, True)


async def test_a_broker_that_loses_jobs_is_too_old(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "LEAST", (99, 0))
    found = await broker_seen(Broker(guarded.server.address, guarded.right), "x")
    assert (found.state, "99.0 or newer" in found.step) == (State.BAD, True)


async def test_a_runners_host_on_which_all_is_well_has_nothing_wrong(guarded: Guarded, tmp_path: Path) -> None:
    settings = Settings(nats=guarded.server.address, name="r1", nats_seed_file=guarded.right, lock=tmp_path / "lock")
    assert wrong(await looked_over(settings, datetime.now(UTC))) == {}
    nameless = wrong(await looked_over(replace(settings, name=""), datetime.now(UTC)))
    assert list(nameless) == ["broker"]


async def test_everything_that_is_wrong_on_a_runners_host_is_told_at_once(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("geheim" * 4)
    secret.chmod(0o644)
    (tmp_path / "cert.pem").write_text("no certificate")
    settings = Settings(
        listen="0.0.0.0:7443",
        secret_file=secret,
        nats_seed_file=tmp_path / "none.nk",
        tls_cert=tmp_path / "cert.pem",
        lock=tmp_path / "none" / "lock",
    )
    found = await looked_over(settings, NOW - timedelta(days=900))
    assert set(wrong(found)) == {"secret", "seed", "tls", "lock", "clock"}
    assert "geheim" not in as_text(found)


def test_a_certificate_is_well_ends_soon_has_ended_or_is_none(tmp_path: Path) -> None:
    file = authority(tmp_path, 90)
    for after, state in ((0, State.OK), (70, State.NOTE), (91, State.BAD)):
        (told,) = certificate("tls", file, NOW + timedelta(days=after))
        assert told.state is state
    (told,) = certificate("tls", tmp_path / "none.pem", NOW)
    assert (told.state, "No such file" in told.seen) == (State.BAD, True)


def test_what_is_open_to_others_or_not_there_and_a_folder_without_room_are_told(tmp_path: Path) -> None:
    (tmp_path / "open").write_text("")
    (tmp_path / "open").chmod(0o644)
    assert closed("x", tmp_path / "open").step == f"chmod 600 {tmp_path / 'open'}"
    assert closed("x", tmp_path / "none").state is State.BAD
    assert space("disk", tmp_path / "not" / "made" / "yet", "make room").thing == "disk"
    assert clock(NOW - timedelta(hours=1), [tmp_path / "open"]).state is State.BAD
    assert clock(NOW + timedelta(hours=1), [tmp_path / "none"]).state is State.OK
