"""Drawn calls as HTML that lays them out as Telegram's clients do: bubbles, lines in their own direction, rows of keys.

Law: a line takes its direction from its first strong letter and rows of keys are not mirrored, as on every client; what
looks wrong here looks wrong there.
"""

from collections.abc import Sequence

from markupsafe import Markup, escape

from bot.adapters.telegram.drafts import Draft, FileDraft, PhotoDraft, TextDraft
from bot.posting.showing import drawn, keys, photo


def laid_out(drafts: Sequence[Draft]) -> Markup:
    """Give the bubbles of a reply, one under the other."""
    return Markup('<div class="tg">{}</div>').format(Markup("").join(map(_bubble, drafts)))


def _bubble(draft: Draft) -> Markup:
    match draft:
        case TextDraft(html=html):
            inside = _text(html)
        case PhotoDraft(content=content, caption=caption):
            inside = photo(drawn(content), "tg") + _text(caption)
        case FileDraft(name=name, caption=caption):
            inside = Markup('<div class="tg-file" dir="ltr">{}</div>').format(escape(name)) + _text(caption)
    bubble = Markup('<div class="tg-bubble">{}</div>').format(inside)
    return bubble + keys(draft.keyboard, "tg")


def _text(html: str) -> Markup:
    # The HTML is the adapter's own, written to be parsed by the platform: what learners wrote is escaped in it.
    # A block of code ends its line by itself: one of the line ends around it would stand as an empty line.
    shown = html.replace("\n<pre>", "<pre>").replace("</pre>\n", "</pre>")
    return Markup('<div class="tg-text">{}</div>').format(Markup(shown)) if html else Markup("")  # noqa: S704
