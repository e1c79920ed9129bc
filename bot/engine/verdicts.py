"""The measured verdict on a myth card, beside the votes and the explanation.

Law: the machine decides what is said of this machine; what the lesson says in general stands beside it, apart.
"""

from bot.engine.bubbles import paragraphs
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.replies import Block, Paragraph, Spans, Strong, Text
from bot.engine.wording import inline
from content.schema import Finding, Myth
from sandbox_runner.protocol import Claim, Ratio, Result

_TURNED = {Claim.FASTER: Claim.SLOWER, Claim.SLOWER: Claim.FASTER}
VOTES = ("fact", "myth", "depends")


def of_myth(moment: Moment, result: Result, purpose: Purpose) -> tuple[Block, ...]:
    """Give what a finished experiment says of its card; nothing for other runs."""
    myth = _myth(moment, purpose) if purpose.why is Why.MYTH else None
    if myth is None:
        return ()
    claim = measured(result.ratios, myth.finding)
    words = moment.words
    if claim is None or claim is Claim.UNCLEAR:
        here = words.say("myth.not_decided")
    else:
        here = words.say("myth.holds" if claim.value in myth.finding.holds_when else "myth.fails")
    return (
        Paragraph((*words.say("myth.claim"), Text(" "), *inline(myth.claim))),
        Paragraph(here),
        *told(moment, myth, purpose.vote),
    )


def told(moment: Moment, myth: Myth, vote: str) -> tuple[Block, ...]:
    """Give the lesson's own verdict, the votes, and the explanation."""
    words = moment.words
    general = Paragraph(words.say(f"myth.truth_{myth.truth}"))
    own = words.say("myth.your_vote", vote=words.text(f"vote.{vote}")) if vote in VOTES else ()
    others = _votes(moment, myth)
    ballot = (Paragraph((*own, *((Text(" "),) if own and others else ()), *others)),) if own or others else ()
    head = Paragraph((Strong(words.text("myth.explanation")),))
    return (general, *ballot, head, *paragraphs(myth.explanation))


def measured(ratios: tuple[Ratio, ...], finding: Finding) -> Claim | None:
    """Give what was measured of a card's finding; None when it was not measured."""
    for ratio in ratios:
        if (ratio.name, ratio.against) == (finding.name, finding.against):
            return ratio.claim
        if (ratio.name, ratio.against) == (finding.against, finding.name):
            return _TURNED.get(ratio.claim, ratio.claim)
    return None


def _votes(moment: Moment, myth: Myth) -> Spans:
    ask = moment.known.ask
    if ask is None or ask.item != myth.id:
        return ()
    counts = {vote: max(moment.known.votes.get(vote, 0), 0) for vote in VOTES}
    return moment.words.say("myth.votes", **counts) if sum(counts.values()) else ()


def _myth(moment: Moment, purpose: Purpose) -> Myth | None:
    listed = (myth for lesson in moment.course.lessons for myth in lesson.myths)
    return next((myth for myth in listed if myth.id == purpose.item), None)
