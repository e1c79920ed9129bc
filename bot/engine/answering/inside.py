"""Code in the middle of a question: shown apart and offered to be timed, beside what the lessons say to the question.

Law: a term of the lessons is no code, however it is written (`torch.compile()`, `dynamic=True`); nothing is run before
the learner's own tap.
"""

import re

from bot.engine.answering import replying
from bot.engine.answering.answerer import of
from bot.engine.answering.bands import Band
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.effects import Turn
from bot.engine.letters import ARABIC
from bot.engine.moment import Moment
from bot.engine.replies import Choice, CodeBlock, Paragraph
from bot.engine.session import PendingCode

_RUN = re.compile(r"[A-Za-z_(\[][\x20-\x7e]{7,}")
"""A stretch of a line in Latin letters and signs."""
_STATEMENT = re.compile(
    r"\b(?:for [\w, ()]+ in [^:]+:|while [^:]+:|def \w+\(|lambda [\w, ]*:|import \w+ *;|from \w[\w.]* import \w+ *;|"
    r"with [\w.]+\(.*\)[^:]*:)|(?:^|; ?)[\w.\[\], ]+ [-+*/@]?= \S.*[(\[+*/@]"
)
_MOST = 2000
"""Characters of a text that are looked through."""


def code_in(text: str) -> str:
    """Give the code that stands in a question; empty when there is none."""
    if ARABIC.search(text) is None or len(text) > _MOST:
        return ""
    runs = (found[0].strip(" .,;:?!") for line in text.splitlines() for found in _RUN.finditer(line))
    return next((run for run in runs if _STATEMENT.search(run)), "")


def offered(moment: Moment, text: str) -> Turn | None:
    """Offer to time the code in a question; None when there is none, or the lessons answer the question."""
    code = code_in(text)
    if not code or of(moment.course).ask(text).band is Band.ANSWER:
        return None
    words = moment.words
    check = moment.dice.identity()
    pending = PendingCode(check, (code,), "code.py", measure=True, offered=True)
    _, hits = of(moment.course).search(text.replace(code, " "))
    near = tuple(hit for hit in hits if not replying.gives_away(moment, hit.section))
    time_it = Choice(words.text("button.measure_inside"), encode(Op.ACCEPT, check, "yes"))
    return moment.changed(pending=pending).turn(
        *said(
            Paragraph(words.say("answer.code_inside")),
            CodeBlock(code),
            *replying.still_open(moment),
            *buttons(time_it, *replying.ways(moment, near)),
        )
    )
