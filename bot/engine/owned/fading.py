"""Replies after their time: learners' code, outputs and files go, what the course says stays.

Law: code that stands in the course's own files is the course's; every other block of code may be a learner's.
"""

from collections.abc import Callable

from bot.engine.replies import Attachment, Block, CodeBlock, File, Paragraph, Reply
from bot.engine.wording import Wording
from content.schema import Course


def fader(course: Course, days: int) -> Callable[[Reply], Reply | None]:
    """Give what takes learners' code, outputs and files out of a reply; None where it holds none."""
    own = "\0".join(course.files.values())
    note = Paragraph(Wording(course.phrases).say("faded.code", n=days))

    def faded(reply: Reply) -> Reply | None:
        kept: list[Block] = []
        for block in reply.blocks:
            if not _is_learners(block, own):
                kept.append(block)
            elif note not in kept:
                kept.append(note)
        return Reply(tuple(kept)) if tuple(kept) != reply.blocks else None

    return faded


def _is_learners(block: Block, own: str) -> bool:
    match block:
        case CodeBlock(code):
            return code.strip() not in own
        case Attachment() | File():
            return True
        case _:
            return False
