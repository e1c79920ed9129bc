from pathlib import Path

import pytest

from sandbox_runner.errors import SetupError
from sandbox_runner.settings import SettingsError, host_and_port, read_secret, read_settings


def test_nothing_set_gives_the_defaults() -> None:
    settings = read_settings({})
    assert (settings.queue, settings.a_learner, settings.slots, settings.socket) == (100, 2, 0, None)
    assert settings.lock.is_absolute()


def test_every_variable_is_read() -> None:
    settings = read_settings(
        {
            "TASREE_SANDBOX_PYTHON": "/opt/learners/bin/python",
            "TASREE_RUNNER_SOCKET": "/run/tasree/runner",
            "TASREE_RUNNER_SLOTS": "4",
            "TASREE_RUNNER_ACCEPT_MISSING": "cgroup, seccomp",
            "TASREE_RUNNER_DRAIN_SECONDS": "5",
            "TASREE_RUNNER_GPUS": "3, 1",
            "TASREE_RUNNER_LOCK": "",
        }
    )
    assert settings.python == "/opt/learners/bin/python"
    assert settings.socket == Path("/run/tasree/runner")
    assert (settings.slots, settings.drain_s) == (4, 5.0)
    assert settings.accept_missing == ("cgroup", "seccomp")
    assert settings.gpus == (1, 3)


def test_that_no_gpu_is_lent_is_a_word_of_its_own() -> None:
    assert read_settings({"TASREE_RUNNER_GPUS": "none"}).gpus == ()
    assert read_settings({"TASREE_RUNNER_GPUS": ""}).gpus is None


@pytest.mark.parametrize("text", ["0,0", "cuda:0", "-1", "256"])
def test_what_numbers_no_gpu_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="TASREE_RUNNER_GPUS"):
        read_settings({"TASREE_RUNNER_GPUS": text})


def test_every_mistake_is_told_at_once_with_variable_and_value() -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(
            {
                "TASREE_SANDBOX_PYTHON": "python3",
                "TASREE_RUNNER_SLOTS": "many",
                "TASREE_RUNNER_QUEUE": "0",
                "TASREE_RUNNER_LISTEN": "localhost",
                "TASREE_RUNNER_SLOT": "2",
            }
        )
    assert sorted(caught.value.faults) == [
        "TASREE_RUNNER_LISTEN: 'localhost' is not HOST:PORT",
        "TASREE_RUNNER_QUEUE: '0' is not a whole number from 1 to 10000",
        "TASREE_RUNNER_SLOT: no such setting; TASREE_RUNNER_SLOTS was meant?",
        "TASREE_RUNNER_SLOTS: 'many' is not a whole number from 1 to 256",
        "TASREE_SANDBOX_PYTHON: 'python3' is not an absolute path",
    ]


def test_a_secret_appears_neither_in_a_fault_nor_in_the_settings_shown() -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"TASREE_RUNNER_SECRET": "hunter2"})
    assert "hunter2" not in str(caught.value)
    settings = read_settings({"TASREE_RUNNER_SECRET": "correct horse battery"})
    assert settings.secret == "correct horse battery"  # noqa: S105 - as given above
    assert "horse" not in repr(settings)


@pytest.mark.parametrize("name", ["TASREE_RUNNER_SECRET_FILE", "TASREE_RUNNER_NATS_SEED_FILE"])
def test_a_secret_given_where_its_file_belongs_is_not_shown(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({name: "SUAGEHEIMGEHEIMGEHEIM"})
    assert caught.value.faults == (f"{name}: (not shown) is not an absolute path",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TASREE_RUNNER_SLOTS", "0000000000001" + "9" * 5000),
        ("TASREE_RUNNER_NATS", "nats+tls://broker.example:99999"),
        ("TASREE_RUNNER_GPUS", "\udcff"),
    ],
)
def test_a_value_that_no_parser_can_take_is_a_fault_that_any_terminal_can_show(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({name: value})
    said = str(caught.value)
    assert said.startswith(name)
    assert said.isprintable()
    assert len(said) < 400


def test_a_bots_own_variables_are_none_of_our_business() -> None:
    read_settings({"TASREE_RUNNER_CA_FILE": "/x", "TASREE_RUNNER": "embedded", "TASREE_WEB_PORT": "1"})


@pytest.mark.parametrize(
    ("text", "address"),
    [(":7443", ("127.0.0.1", 7443)), ("0.0.0.0:1", ("0.0.0.0", 1)), ("[::1]:65535", ("::1", 65535))],  # noqa: S104
)
def test_an_address_without_a_host_is_the_loopback(text: str, address: tuple[str, int]) -> None:
    assert host_and_port(text) == address


@pytest.mark.parametrize(
    "text", ["", "7443", "host:", "host:x", "host:65536", "host:٣", "host:0000019999", "a..b:1", "\udcff:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"HOST:PORT|host's name"):
        host_and_port(text)


def test_a_secret_file_is_read_without_its_line_end(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("0123456789abcdef\n")
    path.chmod(0o600)
    assert read_secret(path) == "0123456789abcdef"


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (b"0123456789abcdef", 0o644, "mode 644"),
        (b"0123456789abcdef", 0o620, "mode 620"),
        (b"short", 0o600, "shorter than 16"),
        (b"\xff" * 20, 0o600, "not UTF-8"),
    ],
)
def test_a_secret_file_that_cannot_be_trusted_is_refused_by_name(
    tmp_path: Path, content: bytes, mode: int, words: str
) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(SetupError, match=words) as caught:
        read_secret(path)
    assert str(path) in str(caught.value)


def test_a_secret_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="No such file"):
        read_secret(tmp_path / "nothing")
