"""Code that is cut badly into variants is told so, and not that it is no Python."""

import pytest

from bot.adapters.shell.render import plain
from bot.engine.events import TextSent
from bot.testing import Conversation
from sandbox_runner.protocol import Ending, Fault, Flag, Result


@pytest.mark.parametrize("code", ["cell_duplicate", "cell_empty", "magic_mixed"])
def test_only_what_is_wrong_with_the_variants_is_said(talk: Conversation, code: str) -> None:
    talk.take(TextSent("قياس\n```python\nx = 1\n# %% a\nx\n# %% a\nx\n```"))
    said = "\n".join(
        plain(reply)
        for reply in talk.finish(
            lambda job: Result(
                job.id,
                job.kind,
                Ending.SYNTAX_ERROR,
                fault=Fault("SyntaxError", "SyntaxError: two variants are named 'a'", 4),
                flags=(Flag(code, {}, 4),),
            )
        )
    )
    assert "ليس صالحًا في Python" not in said
    assert "SyntaxError" not in said
    assert "في تقسيم الكود إلى صيغ" in said


def test_what_is_no_python_is_said_to_be_none(talk: Conversation) -> None:
    talk.take(TextSent("قياس\n```python\nx = 1\n```"))
    fault = Fault("SyntaxError", "SyntaxError: invalid syntax", 1)
    replies = talk.finish(lambda job: Result(job.id, job.kind, Ending.SYNTAX_ERROR, fault=fault))
    assert "ليس صالحًا في Python" in "\n".join(map(plain, replies))
