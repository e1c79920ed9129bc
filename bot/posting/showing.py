"""What the previews of every chat platform show alike: rows of buttons and pictures, as HTML of the platform's classes.

Law: `of` is the platform's prefix of classes; what is written in a button is escaped.
"""

import base64

from markupsafe import Markup

from bot.engine.replies import Timings
from bot.posting import bars
from bot.posting.pieces import Keyboard


def keys(keyboard: Keyboard, of: str) -> Markup:
    """Give the rows of buttons under a reply, in the order in which they are sent."""
    key, row = Markup('<span class="{}-key">{}</span>'), Markup('<div class="{}-row">{}</div>')
    rows = (row.format(of, Markup("").join(key.format(of, button.text) for button in each)) for each in keyboard)
    return Markup("").join(rows)


def drawn(content: bytes | Timings) -> bytes:
    """Give a picture's bytes (PNG); those of timing bars are drawn now."""
    return bars.drawn(content) if isinstance(content, Timings) else content


def photo(data: bytes, of: str) -> Markup:
    """Show a picture (PNG)."""
    picture = Markup('<img class="{}-photo" alt="" src="data:image/png;base64,{}">')
    return picture.format(of, base64.b64encode(data).decode())
