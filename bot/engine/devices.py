"""On which device a learner's code is to run: asked where the code names `cuda`, never chosen in silence.

Law: what is offered is there; a runner without a GPU is said to have none, and the processor is offered instead.
"""

import re

from bot.engine import presses
from bot.engine.bubbles import buttons
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.moment import Moment
from bot.engine.replies import Block, Choice, Paragraph
from sandbox_runner.protocol import Device

_COMMENT = re.compile(r"#[^\n]*")
_CUDA = re.compile(r"cuda", re.IGNORECASE)


def named(source: str) -> bool:
    """Tell whether code names CUDA outside its comments."""
    return _CUDA.search(_COMMENT.sub("", source)) is not None


def has_gpu(moment: Moment) -> bool:
    """Tell whether the runner at hand has a GPU."""
    able = moment.known.capabilities
    return able is not None and Device.CUDA in able.devices


def offered(moment: Moment, check: str) -> tuple[Block, ...]:
    """Ask on which device the code of a check is to run."""
    words = moment.words
    there = tuple(Device) if has_gpu(moment) else (Device.CPU,)
    choices = tuple(Choice(words.text(f"button.on_{each}"), encode(Op.ACCEPT, check, each.value)) for each in there)
    sentence = Paragraph(words.say("code.which_device" if has_gpu(moment) else "code.no_gpu"))
    machine = None if has_gpu(moment) else presses.command(moment, Command.MACHINE)
    leave = Choice(words.text("button.do_not_run"), encode(Op.ACCEPT, check, "no"))
    return (sentence, *buttons(*choices, machine, leave, columns=2))


def other(moment: Moment, run: str, ran_on: Device, source: str, listed: tuple[str, ...] = ()) -> Choice | None:
    """Give the button that runs the job of a run on both devices, where that means something and can be done."""
    means = named(source) if not listed else {Device.CPU.value, Device.CUDA.value} <= set(listed)
    if ran_on is Device.BOTH or not means or not has_gpu(moment):
        return None
    return Choice(moment.words.text("button.on_both"), encode(Op.AGAIN, run, Device.BOTH.value))
