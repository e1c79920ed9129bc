"""The bot host's environment: every mistake at once, a key made once."""

import stat
from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.settings import installation_key, load


def test_an_empty_environment_gives_the_embedded_defaults(tmp_path: Path) -> None:
    found = load({"XDG_DATA_HOME": str(tmp_path)})
    assert (found.runner, found.web_host, found.web_port, found.origins) == ("embedded", "127.0.0.1", 8080, ())
    assert found.database == tmp_path / "tasree" / "tasree.db"
    assert (found.content / "course.yaml").is_file()


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    environment = {
        "TASREE_CONTENT": str(tmp_path),
        "TASREE_WEB_PORT": "٨٠٨٠",
        "TASREE_WEB_ORIGINS": "https://good.example, tasree.example",
        "TASREE_RUNNER": "http://somewhere",
        "TASREE_RUNNER_SECRET_FILE": str(tmp_path / "none"),
        "TASREE_KEEP_DAYS": "0",
        "TASREE_BACKUP_DAYS": "a month",
        "TASREE_DATABASE": "postgresql://tasree:geheim@host/tasree",
    }
    with pytest.raises(SettingsError) as caught:
        load(environment)
    said = str(caught.value)
    for part in (
        "course.yaml",
        "٨٠٨٠",
        "tasree.example",
        "http://somewhere",
        "none",
        "KEEP_DAYS=0",
        "a month",
        "DATABASE",
    ):
        assert part in said
    assert "good.example" not in said
    assert "geheim" not in said


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+asyncpg://tasree:geheim@db.example:5432/tasree",
        "postgresql+asyncpg://tasree@/tasree?host=/run/postgresql",
    ],
)
def test_a_database_server_is_named_by_its_address_and_its_password_is_not_shown(address: str) -> None:
    found = load({"TASREE_DATABASE": address})
    assert found.server == address
    assert "geheim" not in repr(found)


@pytest.mark.parametrize(
    "address", ["postgresql+psycopg://h/db", "postgresql+asyncpg://h", "mysql://h/db", "tasree.db"]
)
def test_a_database_that_cannot_be_used_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match=r"postgresql\+asyncpg://user"):
        load({"TASREE_DATABASE": address})


@pytest.mark.parametrize("port", ["-1", "65536", "8080.0", "port", "1e3"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(SettingsError, match="TASREE_WEB_PORT"):
        load({"TASREE_WEB_PORT": port})


def test_a_remote_runner_needs_its_secret() -> None:
    with pytest.raises(SettingsError, match="TASREE_RUNNER_SECRET_FILE is not set"):
        load({"TASREE_RUNNER": "tls://gpu.example:7100"})


def test_the_key_is_made_once_for_the_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"
    key = installation_key(data)
    assert installation_key(data) == key
    assert len(key) == 32
    assert stat.S_IMODE((data / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert [path.name for path in data.iterdir()] == ["key"]


def test_a_damaged_key_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"short")
    with pytest.raises(SettingsError, match="32 bytes"):
        installation_key(tmp_path)
    assert (tmp_path / "key").read_bytes() == b"short"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="file"):
        installation_key(tmp_path / "file")


def test_admins_and_the_answerer_are_read_and_their_mistakes_named(tmp_path: Path) -> None:
    key = tmp_path / "key.txt"
    key.write_text("sk-1")
    good = {
        "TASREE_ADMINS": "telegram:12, web:ab",
        "TASREE_ANSWERER_URL": "http://127.0.0.1:9/v1/",
        "TASREE_ANSWERER_MODEL": "small",
        "TASREE_ANSWERER_KEY_FILE": str(key),
    }
    found = load(good)
    assert found.admins == ("telegram:12", "web:ab")
    assert (found.answerer_url, found.answerer_model) == ("http://127.0.0.1:9/v1", "small")
    bad = {
        "TASREE_ADMINS": "teacher",
        "TASREE_ANSWERER_URL": "http://llm.example/v1",
        "TASREE_ANSWERER_KEY_FILE": str(tmp_path / "none"),
    }
    with pytest.raises(SettingsError) as caught:
        load(bad)
    for part in ("TASREE_ADMINS=teacher", "https", "TASREE_ANSWERER_MODEL", str(tmp_path / "none")):
        assert part in str(caught.value)
    with pytest.raises(SettingsError) as caught:
        load({"TASREE_ANSWERER_URL": "https://user:sk-secret@llm.example/v1", "TASREE_ANSWERER_MODEL": "m"})
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TASREE_WEB_ORIGINS", "http://["),
        ("TASREE_WEB_ORIGINS", "https://host:port"),
        ("TASREE_DATABASE", "postgresql+asyncpg://u:geheim@[bad/tasree"),
        ("TASREE_DATABASE", "postgresql+asyncpg://u:geheim@host:99999/tasree"),
        ("TASREE_ANSWERER_URL", "https://["),
        ("TASREE_TELEGRAM_API", "api.telegram.org"),
        ("TASREE_RUNNER", "tls://host:99999"),
        ("TASREE_METRICS", "127.0.0.1:" + "9" * 5000),
        ("TASREE_METRICS", "a..b:80"),
        ("TASREE_WEB_HOST", "x" * 100 + ".example"),
        ("TASREE_WEB_HOST", "\udcff"),
        ("TASREE_RUNNER", "tls://a..b:7443"),
        ("TASREE_WEB_PORT", "9" * 5000),
        ("TASREE_KEEP_DAYS", "9" * 5000),
        ("TASREE_LOG", "text\x1b[31m\udcff"),
        ("TASREE_DATA", "~there-is-no-such-user/data"),
        ("TASREE_CONTENT", "/" + "x" * 300),
        ("TASREE_RUNNER_CA_FILE", "/" + "x" * 300),
        ("TASREE_RUNNER_SECRET_FILE", "~there-is-no-such-user/secret"),
        ("TASREE_TELEGRAM_TOKEN_FILE", "~there-is-no-such-user/token"),
    ],
)
def test_a_value_that_no_parser_can_take_is_a_fault_that_names_its_variable_in_one_short_line(
    name: str, value: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load({name: value, "TASREE_ANSWERER_MODEL": "m"})
    said = str(caught.value)
    assert said.startswith(name)
    assert said.isprintable()
    assert len(said) < 400
    assert "geheim" not in said


@pytest.mark.parametrize(
    "name", ["TASREE_TELEGRAM_TOKEN_FILE", "TASREE_RUNNER_SECRET_FILE", "TASREE_ANSWERER_KEY_FILE"]
)
def test_a_secret_given_where_its_file_belongs_is_not_shown(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({name: "123456:AAH-geheim"})
    assert str(caught.value).startswith(name)
    assert "geheim" not in str(caught.value)
