"""A number or a name that names nothing is said to name nothing; it opens nothing else."""

import pytest

from bot.adapters.shell.render import plain
from bot.engine.events import TextSent
from bot.testing import Conversation


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/exercise 9", "لا تمرين برقم 9"),
        ("/exercise 0", "لا تمرين برقم 0"),
        ("تمرين ٩", "لا تمرين برقم 9"),
        ("/board 99", "لا تمرين برقم 99"),
        ("/example 40", "لا مثال برقم 40"),
        ("/exercise 1", "مجموع المربعات"),
        ("/exercise", "مجموع المربعات"),
        ("/board 1", "مجموع المربعات"),
        ("/example nothing-such", "لا مثال بالاسم `nothing-such`"),
        ("مثال zzz", "لا مثال بالاسم `zzz`"),
        ("/exercise zzz", "لا تمرين بالاسم `zzz`"),
        ("/example prints", "أُرسل إلى المُشغِّل"),
        ("/lesson 77", "لا درس بهذا الاسم أو الرقم"),
    ],
)
def test_a_number_or_a_name_opens_what_it_names_or_is_said_to_name_nothing(
    talk: Conversation, text: str, said: str
) -> None:
    talk.take(TextSent("/lesson 1"))
    replies = talk.take(TextSent(text))
    assert said in "\n".join(plain(reply) for reply in replies)
