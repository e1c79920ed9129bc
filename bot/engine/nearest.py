"""The sections nearest to a question, by the words they share: an offer, not an answer.

Law: a section is offered only for a word that means something; what is offered is named as an offer.
"""

from functools import lru_cache

from bot.engine.letters import fold
from bot.engine.moment import Moment
from content.schema import Lesson, Section

MOST = 3
_SHORTEST = 3
"""Letters of a word that counts."""
_STOP = frozenset(
    fold(
        "ما ماذا لماذا ليش ليه شو وش ايش شنو كيف كيفاش شلون هل متى أين وين من في على عن إلى هو هي هذا هذه ذلك التي "
        "الذي أن إن كان كانت لا لم لن قد كل بعض مع أو ثم بين عند عندما هناك هنا بدون أكثر أقل جدا يعني علاش واش "
        "أفهم أعرف أريد بدي فرق الفرق معنى the what why how when does is are and for with can you"
    ).split()
)
_PREFIXES = ("وال", "بال", "كال", "فال", "لل", "ال")
_SUFFIXES = ("ات", "ون", "ين", "ها", "ه")
_QUESTION = frozenset(
    fold(
        "ما ماذا لماذا ليش ليه شو وش ايش كيف كيفاش شلون هل متى أين وين علاش واش اشرح what why how when does is"
    ).split()
)


def is_question(text: str) -> bool:
    """Tell whether a text asks something."""
    words = fold(text).split()
    return "؟" in text or "?" in text or bool(words and words[0] in _QUESTION)


def sections(moment: Moment, text: str) -> tuple[tuple[Lesson, Section], ...]:
    """Give the sections that share the most words with a text, best first; none when they share none."""
    asked = _words(text[:2000])
    scored = [
        (_score(asked, section), lesson, section) for lesson in moment.course.lessons for section in lesson.sections
    ]
    best = sorted((row for row in scored if row[0] > 0), key=lambda row: -row[0])
    return tuple((lesson, section) for _, lesson, section in best[:MOST])


def _score(asked: frozenset[str], section: Section) -> float:
    in_title = asked & _of_course(section.title)
    in_questions = [len(asked & _of_course(question)) for question in section.questions]
    return 2 * len(in_title) + max(in_questions, default=0)


@lru_cache(maxsize=4096)
def _of_course(text: str) -> frozenset[str]:
    """Give the words of a text of the course; a learner's text is never kept."""
    return _words(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in fold(text).split() if len(word) >= _SHORTEST and word not in _STOP)


def _stem(word: str) -> str:
    """Take the article off, with what is written onto it, and the endings of plural and feminine."""
    for prefix in _PREFIXES:
        if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST:
            word = word.removeprefix(prefix)
            break
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST:
            return word.removesuffix(suffix)
    return word
