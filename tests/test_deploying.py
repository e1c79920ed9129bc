"""Every unit, manifest and Containerfile under deploy/, held against the tool that knows its form."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import kubernetes_validate
import promql_parser
import pytest
import yaml

from bot import __main__ as bot_entry
from bot import doctor
from bot.figures import Figures
from bot.settings import load
from sandbox_runner import __main__ as runner_entry
from sandbox_runner import settings as runner_settings
from sandbox_runner.looking import State
from sandbox_runner.metrics import Tally, as_text
from sandbox_runner.protocol import Capabilities
from sandbox_runner.serving import stderr_journal

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
OURS = [unit for unit in UNITS if unit.stem != "tasree-nats"]
COMPOSED = [DEPLOY / "compose.yaml", DEPLOY / "compose.nats.yaml"]
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
CONTAINERFILES = sorted((DEPLOY / "containers").glob("*.Containerfile"))
SYSTEMD = shutil.which("systemd-analyze")
EXPOSURE = {"tasree-runner": 65}
"""The most that `systemd-analyze security` may find, in tenths; a bot's is 25."""

needs_systemd = pytest.mark.skipif(SYSTEMD is None, reason="systemd-analyze is not installed")


def ran(*words: str | Path) -> None:
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stderr == ""


def program(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def documents(path: Path) -> list[dict[str, object]]:
    return list(yaml.safe_load_all(path.read_text()))


def settings_known() -> set[str]:
    return set(re.findall(r"TASREE_[A-Z_]+", "".join(path.read_text() for path in DEPLOY.glob("*.env.example"))))


@needs_systemd
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_systemd_finds_no_fault_in_a_unit(unit: Path, tmp_path: Path) -> None:
    here = tmp_path / unit.name
    here.write_text(placed(unit.read_text()))
    ran("systemd-analyze", "verify", "--man=no", here)


@needs_systemd
def test_systemd_finds_no_fault_in_a_runner_that_takes_jobs_from_the_broker(tmp_path: Path) -> None:
    here = tmp_path / "tasree-runner.service"
    here.write_text(placed((DEPLOY / "systemd" / here.name).read_text()))
    laid = tmp_path / "tasree-runner.service.d" / "nats.conf"
    laid.parent.mkdir()
    laid.write_text((DEPLOY / "systemd" / "nats" / "runner.conf").read_text())
    ran("systemd-analyze", "verify", "--man=no", here)
    laid.write_text(laid.read_text() + "Enviroment=X=1\n")
    with pytest.raises(AssertionError, match="Enviroment"):
        ran("systemd-analyze", "verify", "--man=no", here)


def placed(unit: str) -> str:
    """Give a unit with its programs where they are here, for a tool that looks for them."""
    return unit.replace("/opt/tasree", str(ROOT)).replace("/usr/local/bin/nats-server", str(program("nats-server")))


@needs_systemd
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_a_unit_is_as_closed_as_it_was(unit: Path) -> None:
    most = EXPOSURE.get(unit.stem, 25)
    ran("systemd-analyze", "security", "--offline=yes", "--no-pager", f"--threshold={most}", unit)


@pytest.mark.parametrize("unit", OURS, ids=lambda path: path.stem)
def test_what_a_unit_starts_is_a_command_of_ours(unit: Path) -> None:
    started = re.findall(r"^ExecStart=\S+ -m (bot|sandbox_runner) (.+)$", unit.read_text(), re.MULTILINE)
    assert len(started) == 1
    package, words = started[0]
    entry = bot_entry if package == "bot" else runner_entry
    assert entry._parser().parse_args(words.split()).command == words


def test_each_platform_has_a_unit() -> None:
    assert [path.stem for path in OURS] == ["tasree-discord", "tasree-runner", "tasree-telegram", "tasree-web"]


@pytest.mark.parametrize("path", [*UNITS, *MANIFESTS, *CONTAINERFILES, *COMPOSED], ids=lambda p: p.name)
def test_only_settings_that_exist_are_named(path: Path) -> None:
    assert set(re.findall(r"TASREE_[A-Z_]+", path.read_text())) <= settings_known()


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_a_manifest_has_the_form_that_kubernetes_reads(path: Path) -> None:
    for document in documents(path):
        kubernetes_validate.validate(document, "1.34", strict=True)
        metadata = document["metadata"]
        assert isinstance(metadata, dict)
        assert document["kind"] == "Namespace" or metadata["namespace"] == "tasree"


def test_a_manifest_with_a_word_that_kubernetes_does_not_know_is_refused() -> None:
    document = documents(DEPLOY / "kubernetes" / "namespace.yaml")[0]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**document, "spce": {}}, "1.34", strict=True)


@pytest.mark.parametrize("path", COMPOSED, ids=lambda path: path.stem)
def test_compose_has_the_form_of_its_specification(path: Path) -> None:
    schema = "vendor.compose-spec"
    ended = subprocess.run(
        [program("check-jsonschema"), "--builtin-schema", schema, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_compose_starts_commands_of_ours_and_no_secret_that_is_not_named() -> None:
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for name, service in told["services"].items():
        named = {one if isinstance(one, str) else one["source"] for one in service["secrets"]}
        assert named <= set(told["secrets"])
        if name != "runner":
            assert bot_entry._parser().parse_args(service["command"]).command == name


def test_what_is_laid_over_compose_names_services_and_secrets_that_are_there_and_a_call_of_ours() -> None:
    base, over = (yaml.safe_load(path.read_text()) for path in COMPOSED)
    assert set(over["services"]) - set(base["services"]) == {"broker"}
    secrets = {*base["secrets"], *over["secrets"]}
    for told in over["services"].values():
        named = {one if isinstance(one, str) else one["source"] for one in told["secrets"]}
        assert named <= secrets
        assert {one["source"] for one in told.get("configs", ())} <= set(over["configs"])
        assert set(told.get("networks", ())) <= set(base["networks"])
    call = runner_entry._parser().parse_args(over["services"]["runner"]["command"])
    told = over["services"]["runner"]["environment"] | {
        "TASREE_RUNNER_NATS": call.nats,
        "TASREE_RUNNER_NAME": call.name,
    }
    assert runner_settings.read_settings(told).nats == "nats+tls://broker:4222"


def _secrets(value: object) -> set[str]:
    """Name every secret that a part of a manifest or of compose is given."""
    if isinstance(value, list):
        return set().union(*map(_secrets, value))
    if not isinstance(value, dict):
        return set()
    own = {str(value[key]) for key in ("secretName",) if key in value}
    own |= {str(value[key]["name"]) for key in ("secretKeyRef", "secret") if "name" in (value.get(key) or {})}
    given = value.get("secrets") or ()
    own |= {one if isinstance(one, str) else one["source"] for one in given} if isinstance(given, list) else set()
    return own.union(*map(_secrets, value.values()))


def test_no_runner_is_given_a_token_the_database_or_a_bots_secret() -> None:
    pods = [one for path in MANIFESTS for one in documents(path) if one["kind"] in {"Deployment", "StatefulSet"}]
    parts: dict[str, list[Any]] = {"bot": [], "runner": []}
    for pod in pods:
        template: Any = pod["spec"]
        labels = template["template"]["metadata"]["labels"]
        parts.get(labels["part"], []).append(template["template"]["spec"])
    for path in COMPOSED:
        for name, service in yaml.safe_load(path.read_text())["services"].items():
            parts["runner" if name == "runner" else "bot"].append(service)
    assert len(parts["runner"]) == 4
    assert {"tasree-database", "tasree-telegram", "telegram-token", "bot-seed"} <= _secrets(parts["bot"])
    assert not _secrets(parts["runner"]) & _secrets(parts["bot"]) - {"tasree-broker-public", "broker-authority"}

    unit = (DEPLOY / "systemd" / "tasree-runner.service").read_text()
    laid = (DEPLOY / "systemd" / "nats" / "runner.conf").read_text()
    example = (DEPLOY / "runner.env.example").read_text()
    loaded = set(re.findall(r"^LoadCredential=([\w.]+)", unit + laid, re.MULTILINE))
    assert loaded == {"runner.secret", "runner.pem", "runner.key", "runner.nk", "broker.pem"}
    known = set(re.findall(r"TASREE_[A-Z_]+", json.dumps(parts["runner"]) + unit + laid + example))
    assert not {name for name in known if re.search("TOKEN|DATABASE|DATA$|TELEGRAM|DISCORD", name)}


@pytest.mark.parametrize("path", CONTAINERFILES, ids=lambda path: path.stem)
def test_the_linter_finds_no_fault_in_a_containerfile(path: Path) -> None:
    ran(program("hadolint"), "--no-color", "--failure-threshold", "style", path)
    copied = re.findall(r"^COPY (.+) \S+$", path.read_text(), re.MULTILINE)
    assert all((ROOT / name).exists() for line in copied for name in line.split())


def test_the_runners_settings_in_its_manifest_can_be_read() -> None:
    spec = next(each for each in documents(DEPLOY / "kubernetes" / "runner.yaml") if each["kind"] == "Deployment")
    container = yaml.safe_load(yaml.safe_dump(spec))["spec"]["template"]["spec"]["containers"][0]
    told = {one["name"]: one.get("value", "a secret that is long enough") for one in container["env"]}
    assert runner_settings.read_settings(told).secret


def container_of(manifest: str) -> dict[str, Any]:
    """Give the first container of the first workload in a manifest."""
    spec = next(
        each for each in documents(DEPLOY / "kubernetes" / f"{manifest}.yaml") if "template" in str(each["spec"])
    )
    found: dict[str, Any] = yaml.safe_load(yaml.safe_dump(spec))["spec"]["template"]["spec"]["containers"][0]
    return found


def test_the_settings_of_runners_behind_the_broker_are_read() -> None:
    container = container_of("runners")
    told = {one["name"]: one.get("value", "tasree-runners-0") for one in container["env"]}
    settings = runner_settings.read_settings(told)
    assert (settings.nats, settings.name) == ("nats+tls://tasree-broker:4222", "tasree-runners-0")
    assert runner_entry._parser().parse_args(container["args"]).command == "serve"


def test_the_settings_of_many_bots_are_read(tmp_path: Path) -> None:
    container = container_of("telegram-many")
    (tmp_path / "file").write_text("x")
    told = {one["name"]: one.get("value", "postgresql+asyncpg://a:b@db/tasree") for one in container["env"]}
    files = {name: str(tmp_path / "file") for name, value in told.items() if value.startswith("/etc/tasree")}
    assert load(told | files).runner == "nats+tls://tasree-broker:4222"
    call = bot_entry._parser().parse_args(container["args"])
    assert (call.command, call.webhook) == ("telegram", "https://tasree.example/telegram")


@pytest.mark.parametrize("name", ["web", "telegram", "discord"])
def test_the_bots_settings_in_its_manifest_are_read(name: str, tmp_path: Path) -> None:
    spec = next(each for each in documents(DEPLOY / "kubernetes" / f"{name}.yaml") if each["kind"] == "Deployment")
    container = yaml.safe_load(yaml.safe_dump(spec))["spec"]["template"]["spec"]["containers"][0]
    told = {one["name"]: one["value"] for one in container["env"]}
    (tmp_path / "file").write_text("x")
    assert told["TASREE_METRICS"].endswith(":9465")
    mounted = {
        name: str(tmp_path / "file") if value.startswith("/etc/tasree") else value for name, value in told.items()
    }
    assert load(mounted).runner == "tls://tasree-runner:7443"


def metrics_shown() -> set[str]:
    """Give the names that a runner's and a bot's figures have."""
    tally = Tally(stderr_journal(), lambda: 0.0)
    text = as_text(Capabilities(), {"queued": 0, "running": 0}, tally) + Figures("web", lambda: 0.0).page()[1]
    return set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))


@pytest.mark.parametrize("package", ["bot", "runner"])
@pytest.mark.parametrize("name", ["alerts.yaml", "dashboard.json"])
def test_alerts_and_dashboard_ask_for_figures_that_are_shown(name: str, package: str) -> None:
    told = yaml.safe_load((DEPLOY / "prometheus" / name).read_text())
    if name == "alerts.yaml":
        rules = [rule for group in told["groups"] for rule in group["rules"]]
        assert all({"alert", "expr", "labels", "annotations"} <= set(rule) for rule in rules)
        assert all(set(rule["annotations"]) == {"summary", "step"} for rule in rules)
        asked = [rule["expr"] for rule in rules]
    else:
        asked = [target["expr"] for panel in told["panels"] for target in panel["targets"]]
    for one in asked:
        promql_parser.parse(one)
    named = set(re.findall(rf"tasree_{package}_[a-z_]+", " ".join(asked)))
    assert named
    assert {re.sub(r"_(bucket|sum|count)$", "", one) for one in named} <= metrics_shown()


def environment_of(unit: str, secrets: Path) -> dict[str, str]:
    """Give what a unit sets, with its credentials in a folder."""
    lines = re.findall(r"^Environment=(\w+)=(.*)$", (DEPLOY / "systemd" / unit).read_text(), re.MULTILINE)
    return {name: value.replace("%d", str(secrets)) for name, value in lines}


async def test_the_commands_of_the_systemd_part_give_a_runner_that_its_bot_reaches(tmp_path: Path) -> None:
    part = (DEPLOY / "README.md").read_text().split("## systemd\n")[1].split("\n## ")[0].replace("\\\n", "")
    words = [line.strip() for line in part.splitlines() if re.match(r" {7}(python3|openssl|echo|printf) ", line)]
    assert len(words) == 4
    script = "umask 077\n" + "\n".join(words).replace("/etc/tasree", str(tmp_path)).replace(":7443", ":0")
    await asyncio.to_thread(subprocess.run, ["bash", "-euc", script], check=True, capture_output=True)
    told = dict(line.split("=", 1) for line in (tmp_path / "runner.env").read_text().splitlines())
    program = ROOT / "tests" / "sandbox_runner" / "stand_in_runner.py"
    runner = await asyncio.create_subprocess_exec(
        sys.executable,
        program,
        "serve",
        cwd=ROOT,
        env=environment_of("tasree-runner.service", tmp_path)
        | told
        | {"PATH": "/usr/bin:/bin", "TASREE_RUNNER_LOCK": str(tmp_path / "lock"), "HOME": str(tmp_path)},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert runner.stderr is not None
        noted = json.loads(await asyncio.wait_for(runner.stderr.readline(), 60))
        port = noted["address"].rpartition(":")[2]
        told = dict(line.split("=", 1) for line in (tmp_path / "bot.env").read_text().splitlines())
        environment = environment_of("tasree-web.service", tmp_path) | told
        environment |= {"TASREE_RUNNER": told["TASREE_RUNNER"].replace(":0", f":{port}")}
        environment |= {"TASREE_DATA": str(tmp_path / "data"), "TASREE_WEB_PORT": "0"}
        findings = await doctor.examine(environment, datetime.now(UTC))
        assert [each for each in findings if each.state is State.BAD] == []
        assert any(each.thing == "runner" and each.seen.startswith("answers") for each in findings)
    finally:
        runner.terminate()
        await runner.wait()
