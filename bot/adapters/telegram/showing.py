"""Drawn calls as HTML that lays them out as Telegram's clients do: bubbles, lines in their own direction, rows of keys.

Law: a line takes its direction from its first strong letter and rows of keys are not mirrored, as on every client; what
looks wrong here looks wrong there.
"""

import base64
from collections.abc import Sequence

from markupsafe import Markup, escape

from bot.adapters.telegram.drafts import Draft, FileDraft, PhotoDraft, TextDraft
from bot.engine.replies import Timings
from bot.posting import bars
from bot.posting.pieces import Keyboard


def laid_out(drafts: Sequence[Draft]) -> Markup:
    """Give the bubbles of a reply, one under the other."""
    return Markup('<div class="tg">{}</div>').format(Markup("").join(map(_bubble, drafts)))


def _bubble(draft: Draft) -> Markup:
    match draft:
        case TextDraft(html=html):
            inside = _text(html)
        case PhotoDraft(content=content, caption=caption):
            data = bars.drawn(content) if isinstance(content, Timings) else content
            picture = Markup('<img class="tg-photo" alt="" src="data:image/png;base64,{}">')
            inside = picture.format(base64.b64encode(data).decode()) + _text(caption)
        case FileDraft(name=name, caption=caption):
            inside = Markup('<div class="tg-file" dir="ltr">{}</div>').format(escape(name)) + _text(caption)
    bubble = Markup('<div class="tg-bubble">{}</div>').format(inside)
    return bubble + _keys(draft.keyboard)


def _text(html: str) -> Markup:
    # The HTML is the adapter's own, written to be parsed by the platform: what learners wrote is escaped in it.
    # A block of code ends its line by itself: one of the line ends around it would stand as an empty line.
    shown = html.replace("\n<pre>", "<pre>").replace("</pre>\n", "</pre>")
    return Markup('<div class="tg-text">{}</div>').format(Markup(shown)) if html else Markup("")  # noqa: S704


def _keys(keyboard: Keyboard) -> Markup:
    rows = (
        Markup('<div class="tg-row">{}</div>').format(
            Markup("").join(Markup('<span class="tg-key">{}</span>').format(button.text) for button in row)
        )
        for row in keyboard
    )
    return Markup("").join(rows)
