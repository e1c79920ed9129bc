import dataclasses
import json
from pathlib import Path

import pytest

from sandbox_runner import protocol
from sandbox_runner.frames import (
    TELL_BYTES,
    Cancel,
    Hello,
    Ping,
    Pong,
    Refusal,
    Refused,
    Rejected,
    Said,
    Submit,
    ToldAccepted,
    ToldFinished,
    ToldProgress,
    Welcome,
    ask_of,
    hello_of,
    pack,
    parse,
    tell_of,
)
from sandbox_runner.protocol import (
    PROTOCOL_VERSION,
    Accepted,
    Budget,
    Capabilities,
    Check,
    Checked,
    Claim,
    Device,
    Ending,
    Exercise,
    Fault,
    Finished,
    Flag,
    Job,
    JobKind,
    Machine,
    Note,
    OutFile,
    Phase,
    Progress,
    Ratio,
    Reached,
    Result,
    Stream,
    Variant,
    Wall,
)

SAMPLE = Path(__file__).with_name("wire") / f"v{PROTOCOL_VERSION}.json"

MACHINE = Machine("host", "A CPU", 2, 2, "", "3.11.2", "2.4.6", "2.13.0", "6.18")
RESULT = Result(
    job_id="j1",
    kind=JobKind.TIME,
    ending=Ending.TIMEOUT_RUN,
    stdout=Stream("سلام\n", "", 9, 0),
    stderr=Stream("head", "tail", 70_000, 4_464),
    value="3",
    fault=Fault("ValueError", "ValueError: no", 2),
    reached=Reached("run_s", 10.0, "s"),
    files=(OutFile("plot.png", "image/png", 3, "AAAA"),),
    notes=(Note("left_processes", {"count": 1}),),
    variants=(Variant("loop", 1e6, 9e5, (9.5e5, 1.1e6), 40, 2, 2e6),),
    ratios=(Ratio("sum", "loop", 8.5, (8.0, 9.0), Claim.FASTER, 20),),
    checked="time_only",
    confirmed=True,
    noise=0.01,
    machine=MACHINE,
    flags=(Flag("promoted", {"to": "float64"}, 3),),
    phases_ms={"start": 12.5},
    walls=("network",),
    accepted_missing=("cgroup",),
    checks=(Checked(100, passed=True, error=1e-16), Checked(7, passed=False, why="differ", error=0.5)),
    share=0.8,
    start="cold:parent_died",
)
SAID: tuple[Said, ...] = (
    Hello(PROTOCOL_VERSION, "the secret"),
    Submit(Job("j1", JobKind.TIME, "# %% a\n1\n", "0f3a", Device.CPU, Budget.QUICK)),
    Submit(Job("j2", JobKind.EXERCISE, "s", "0f3a", exercise=Exercise("slow", "fast", (Check(100, 1, 1e-9),)))),
    Cancel("j1"),
    Ping(),
    Welcome(
        Capabilities(
            kinds=(JobKind.RUN, JobKind.TIME),
            devices=(Device.CPU,),
            machine=MACHINE,
            walls=(Wall("network", stands=True, matters=True),),
            ceilings={"matmul_float32": 1e11},
        )
    ),
    Refused(Refusal.BAD_VERSION, "this runner speaks version 1, the bot version 7", yours=7),
    Rejected("j1", Refusal.UNSUPPORTED, "device: this runner has no 'cuda'"),
    ToldAccepted("j1", Accepted(2, 4.5)),
    ToldProgress("j1", Progress(Phase.MEASURE, 5, 20)),
    ToldFinished("j1", Finished(RESULT)),
    Pong(),
)
RENEW = f"the wire differs from its sample: raise PROTOCOL_VERSION, or before a release run\n  python {__file__}"


def bodies() -> list[dict[str, object]]:
    return [parse(pack(said, TELL_BYTES)[4:]) for said in SAID]


def test_the_sample_of_this_version_is_what_is_said() -> None:
    assert json.loads(SAMPLE.read_text(encoding="utf-8")) == bodies(), RENEW


@pytest.mark.parametrize("place", range(len(SAID)))
def test_each_frame_of_the_sample_is_understood(place: int) -> None:
    body = json.loads(SAMPLE.read_text(encoding="utf-8"))[place]
    read = hello_of if place == 0 else ask_of if place < 5 else tell_of
    assert read(body) == SAID[place], RENEW


def test_the_sample_shows_every_field_of_every_type_of_the_wire() -> None:
    shown = {key for body in bodies() for key in keys_in(body)}
    for name in ("Job", "Limits", "Result", "Capabilities", *(type(said).__name__ for said in SAID)):
        kind = getattr(protocol, name, None)
        if kind is not None:
            assert {field.name for field in dataclasses.fields(kind)} <= shown


def keys_in(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys_in(inner)}
    return {key for inner in value for key in keys_in(inner)} if isinstance(value, list) else set()


if __name__ == "__main__":
    SAMPLE.write_text(json.dumps(bodies(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
