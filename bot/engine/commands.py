"""Words that are commands: "/start", "ابدأ", "مساعدة" … -> a command with its argument.

Law: parsing is a table look-up on folded words; it never guesses. `nearest` offers, and the learner decides.
"""

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum

from bot.engine.groups import asking
from bot.engine.letters import ARABIC, count, fold, stripped
from bot.engine.linking import codes


class Command(StrEnum):
    """What a learner can ask for in words."""

    START = "start"
    HELP = "help"
    MAP = "map"
    LESSON = "lesson"
    NEXT = "next"
    BACK = "back"
    WHERE = "where"
    QUIZ = "quiz"
    CARDS = "cards"
    REVIEW = "review"
    PROGRESS = "progress"
    PLACEMENT = "placement"
    CAP = "cap"
    MYTHS = "myths"
    EXAMPLE = "example"
    EXERCISE = "exercise"
    EXPLORE = "explore"
    CANCEL = "cancel"
    TIME = "time"
    RUN = "run"
    ATTEMPTS = "attempts"
    BOARD = "board"
    TEACHER = "teacher"
    MACHINE = "machine"
    PRIVACY = "privacy"
    REMIND = "remind"
    LINK = "link"
    GROUP = "group"
    EXPORT = "export"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Said:
    """A command and what stood behind it; `slashed` when it was written as one."""

    command: Command
    argument: str = ""
    slashed: bool = False


_WORDS: dict[Command, tuple[str, ...]] = {
    Command.START: ("start", "begin", "ابدأ", "البدء", "بداية", "البداية", "هيا نبدأ", "مرحبا", "السلام عليكم"),
    Command.HELP: ("help", "مساعدة", "المساعدة", "ساعدني", "الأوامر", "أوامر", "تعليمات"),
    Command.MAP: ("map", "lessons", "menu", "الخريطة", "خريطة", "الدروس", "دروس", "قائمة الدروس", "القائمة", "الفهرس"),
    Command.LESSON: (
        "lesson",
        "درس",
        "الدرس",
        "افتح درس",
        "افتح الدرس",
        "افتحلي درس",
        "فتح درس",
        "ابدأ درس",
        "ابدأ الدرس",
        "اعرض درس",
        "اذهب إلى درس",
        "اذهب إلى الدرس",
        "خذني إلى درس",
    ),
    Command.NEXT: ("next", "continue", "التالي", "تابع", "متابعة", "كمل", "أكمل", "بعده", "الذي يليه"),
    Command.BACK: ("back", "previous", "prev", "السابق", "رجوع", "ارجع", "للخلف"),
    Command.WHERE: (
        "where",
        "where am i",
        "وين وصلت",
        "أين كنت",
        "أين أنا",
        "أين وصلت",
        "وين كنت",
        "فين وصلت",
        "مكاني",
    ),
    Command.QUIZ: ("quiz", "كويز", "check", "اختبار", "الاختبار", "اختبرني", "أسئلة", "تحقق من الفهم", "اختبار الفهم"),
    Command.CARDS: ("cards", "flashcards", "بطاقات", "البطاقات", "بطاقات الدرس"),
    Command.REVIEW: (
        "review",
        "due",
        "مراجعة",
        "المراجعة",
        "بطاقات المراجعة",
        "البطاقات المستحقة",
        "راجع",
        "مراجعة اليوم",
    ),
    Command.PROGRESS: (
        "progress",
        "stats",
        "تقدمي",
        "التقدم",
        "تقدم",
        "مستواي",
        "خريطة التقدم",
        "ماذا أعرف",
        "ماذا أفعل الآن",
        "إحصائياتي",
    ),
    Command.PLACEMENT: ("placement", "اختبار تحديد المستوى", "تحديد المستوى", "اختبار المستوى", "تحديد مستواي"),
    Command.CAP: ("cap", "الحد اليومي", "حد يومي", "حد المراجعة", "بطاقات كل يوم"),
    Command.MYTHS: ("myths", "myth", "خرافة أم حقيقة", "خرافات", "خرافة", "الخرافات", "حقيقة أم خرافة"),
    Command.EXAMPLE: ("example", "مثال", "المثال", "شغل المثال", "شغل مثال", "تشغيل المثال"),
    Command.EXERCISE: ("exercise", "task", "تمرين", "التمرين", "تمارين", "التمارين"),
    Command.EXPLORE: ("explore", "explorer", "استكشاف", "الاستكشاف", "استكشف", "جرب بنفسك"),
    Command.CANCEL: (
        "cancel",
        "stop",
        "exit",
        "quit",
        "خروج",
        "الخروج",
        "إلغاء",
        "الغ",
        "ألغ",
        "توقف",
        "أوقف",
        "وقف",
        "إيقاف",
    ),
    Command.TIME: ("time", "measure", "قياس", "قس", "قياس زمن", "قياس الزمن", "قس الزمن", "قياس زمن هذا الكود"),
    Command.RUN: ("run", "تشغيل", "شغل", "شغله", "نفذ", "تنفيذ", "تشغيل كود", "تشغيل هذا الكود", "شغل الكود"),
    Command.ATTEMPTS: ("attempts", "محاولاتي", "المحاولات", "محاولات", "حلولي", "محاولاتي السابقة"),
    Command.BOARD: (
        "board",
        "leaderboard",
        "لوحة الأفضل",
        "اللوحة",
        "لوحة",
        "لوحة الصدارة",
        "الأفضل",
        "الترتيب",
    ),
    Command.TEACHER: ("teacher", "report", "التقرير", "تقرير", "تقرير المعلم", "تقرير المشرف"),
    Command.MACHINE: ("machine", "device", "الجهاز", "جهاز", "الآلة", "مواصفات الجهاز", "على أي جهاز"),
    Command.PRIVACY: ("privacy", "الخصوصية", "خصوصية", "بياناتي"),
    Command.REMIND: (
        "remind",
        "reminder",
        "reminders",
        "تذكير",
        "التذكير",
        "تذكيرات",
        "التذكيرات",
        "ذكرني",
        "تذكير يومي",
        "التذكير اليومي",
        "المنطقة الزمنية",
    ),
    Command.LINK: (
        "link",
        "ربط",
        "الربط",
        "ربط حساب",
        "ربط حسابين",
        "ربط الحساب",
        "ربط الحسابات",
        "ربط الحسابين",
        "ربط حسابي",
        "اربط حسابي",
        "رمز الربط",
    ),
    Command.GROUP: (
        "group",
        "group quiz",
        "اختبار جماعي",
        "الاختبار الجماعي",
        "كويز جماعي",
        "مسابقة",
        "المسابقة",
        "مسابقة جماعية",
        "اختبار المجموعة",
    ),
    Command.EXPORT: ("export", "تصدير", "التصدير", "تصدير بياناتي", "تنزيل بياناتي", "نسخة من بياناتي"),
    Command.DELETE: (
        "delete",
        "حذف بياناتي",
        "حذف البيانات",
        "حذف كل البيانات",
        "احذف بياناتي",
        "امسح بياناتي",
        "مسح بياناتي",
        "حذف حسابي",
        "احذف حسابي",
    ),
}
_TAKES_ARGUMENT = (
    Command.LESSON,
    Command.START,
    Command.EXPLORE,
    Command.EXAMPLE,
    Command.EXERCISE,
    Command.CAP,
    Command.REMIND,
    Command.LINK,
    Command.GROUP,
)
_NUMBERED = (Command.EXAMPLE, Command.EXERCISE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_AS_WRITTEN = (Command.EXPLORE, Command.REMIND, Command.LINK)
_FILLERS = frozenset(
    fold(word)
    for word in ("من فضلك لو سمحت رجاء أريد بدي أبغى أبي عايز عاوز نبي ممكن هل يمكن إلى الى يلا الآن please").split()
)
_ORDINALS = {
    fold(word): number
    for number, word in enumerate(
        ("الأول", "الثاني", "الثالث", "الرابع", "الخامس", "السادس", "السابع", "الثامن", "التاسع", "العاشر"), 1
    )
}
_OF_TIME = frozenset(fold("قياس قس قيس قسي أقيس نقيس زمن الزمن وقت سرعة يستغرق تستغرق أسرع").split())
"""Words that speak of time, where Arabic stands beside code."""
_TABLE = {fold(word): command for command, listed in _WORDS.items() for word in listed}
_LONGEST = max(len(word.split()) for word in _TABLE)
_SLASHED = re.compile(r"/([a-z0-9_]{1,32})(?:@\w+)?(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)
_MOST = 80
"""Characters beyond which a text is no command."""
_FEW = 3
"""Words behind the command of a group's quiz that may be a lesson's name."""
_NEAR = 0.74
"""Likeness from which a word counts as a near miss: one letter of a short word, two of a longer one."""


def parse(text: str) -> Said | None:
    """Read a command; None when the text is none."""
    text = stripped(text).strip()
    if len(text) > _MOST or "\n" in text:
        return None
    slashed = _SLASHED.fullmatch(text)
    if slashed:
        command = _TABLE.get(fold(slashed.group(1)))
        return Said(command, (slashed.group(2) or "").strip(), slashed=True) if command else None
    words = _trimmed(fold(text.lstrip("/")).split())
    for size in range(min(_LONGEST, len(words)), 0, -1):
        command = _TABLE.get(" ".join(words[:size]))
        rest = words[size:]
        if command is Command.CAP and rest and count(" ".join(rest)) is None:
            continue  # a question about some other limit
        if command is Command.GROUP and len(rest) > _FEW and asking.read(" ".join(rest)).vague:
            continue  # a question about something else
        if command in _NUMBERED and rest and not _is_one_of_many(_as_written(text, " ".join(words[:size]))):
            continue  # a question: an example of what, an exercise on what
        if command is Command.LINK and rest and not codes.read(" ".join(rest)):
            continue  # a question about joining something else
        if command and (not rest or (command in _TAKES_ARGUMENT and command is not Command.START)):
            figures = _as_written(text, " ".join(words[:size])) if command in _AS_WRITTEN else ""
            return Said(command, figures or " ".join(rest))
    return None


def _as_written(text: str, command: str) -> str:
    """Give what stands behind a command unfolded: folding would take the point and the sign off a number."""
    parts = text.split()
    while len(parts) > 1 and fold(parts[-1]) in _FILLERS:
        parts = parts[:-1]
    ends = (i for i in range(1, len(parts) + 1) if fold(" ".join(parts[:i])).endswith(command))
    return " ".join(parts[next(ends, len(parts)) :])


def nearest(text: str) -> Command | None:
    """Give the command that a short text nearly is."""
    folded = fold(text.lstrip("/"))
    if not folded or len(folded) > max(len(word) for word in _TABLE):
        return None
    near = difflib.get_close_matches(folded, _TABLE, n=1, cutoff=_NEAR)
    return _TABLE[near[0]] if near else None


def asks_for_time(line: str) -> bool:
    """Tell whether a line beside code asks for its time rather than its output."""
    command = parse(line)
    if command is not None and command.command is Command.TIME:
        return True
    return ARABIC.search(line) is not None and not _OF_TIME.isdisjoint(fold(line).split())


def ordinal(argument: str) -> int | None:
    """Read which one in a row is meant: `2`, `٢`, `الثاني`; None when none is."""
    folded = fold(argument)
    return _ORDINALS.get(folded, count(folded))


def _is_one_of_many(argument: str) -> bool:
    """Tell whether an argument is a place in a row, or may be the name of one in the lessons' files."""
    return ordinal(argument) is not None or _NAME.fullmatch(argument) is not None


def _trimmed(words: list[str]) -> list[str]:
    while len(words) > 1 and words[0] in _FILLERS:
        words = words[1:]
    while len(words) > 1 and words[-1] in _FILLERS:
        words = words[:-1]
    return words
