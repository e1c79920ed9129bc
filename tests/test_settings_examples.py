import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bot import settings as bot_settings
from bot.errors import SettingsError
from sandbox_runner import settings as runner_settings

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"


class Watched(Mapping[str, str]):
    """An environment that notes which variables are looked up."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values_given = values
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.asked.add(key)
        return self.values_given[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_given)

    def __len__(self) -> int:
        return len(self.values_given)


def example(name: str) -> dict[str, str]:
    text = (DEPLOY / name).read_text()
    return dict(re.findall(r"^#?(TASREE_[A-Z_]+)=(.*)$", text, re.MULTILINE))


def test_the_bots_example_names_exactly_the_variables_that_its_settings_read() -> None:
    watched = Watched({})
    bot_settings.load(watched)
    assert {name for name in watched.asked if name.startswith("TASREE_")} == set(example("bot.env.example"))


def test_the_runners_example_names_exactly_the_variables_that_its_settings_read() -> None:
    assert {variable.name for variable in runner_settings.VARIABLES} == set(example("runner.env.example"))


def test_the_runners_example_can_be_read_as_it_stands() -> None:
    assert runner_settings.read_settings(example("runner.env.example")).queue == runner_settings.Settings().queue


def test_the_bots_example_shows_the_defaults() -> None:
    shown = example("bot.env.example")
    plain = bot_settings.load({})
    for name in (
        "TASREE_RUNNER_SECRET_FILE",
        "TASREE_RUNNER_CA_FILE",
        "TASREE_WEB_ORIGINS",
        "TASREE_TELEGRAM_TOKEN_FILE",
        "TASREE_DISCORD_TOKEN_FILE",
        "TASREE_ADMINS",
        "TASREE_METRICS",
        "TASREE_ANSWERER_URL",
        "TASREE_ANSWERER_MODEL",
        "TASREE_ANSWERER_KEY_FILE",
    ):
        del shown[name]
    assert bot_settings.load({**shown, "TASREE_CONTENT": str(plain.content)}) == plain


def test_the_bots_example_of_a_remote_runner_is_well_formed() -> None:
    with pytest.raises(SettingsError) as caught:
        bot_settings.load(example("bot.env.example"))
    assert all("no such file" in line.lower() for line in str(caught.value).splitlines())
