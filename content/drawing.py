"""Figures of the lessons: small scripts drawn twice, for light and for dark screens, at a phone's width.

Law: a picture carries the fingerprint of what drew it, so that a test can tell a stale one. Arabic is shaped by
matplotlib itself (3.11 or later); every line begins with U+200F, and code stands between U+2066 and U+2069.
"""

import hashlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.figure import Figure
from PIL import Image

WIDTH = 3.6
"""Inches: 360 CSS pixels, at which 10 points are about 14 pixels."""

DPI = 200
"""Two pixels of the picture for each CSS pixel, as phones have."""

FAMILY = ["IBM Plex Sans Arabic", "DejaVu Sans"]
MONO = ["DejaVu Sans Mono"]
_MARK = "Fingerprint"


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one scheme; text on `paper` and on each fill has a contrast of at least 4.5 to 1."""

    paper: str
    ink: str
    faint: str
    accent: str
    accent_fill: str
    other: str
    other_fill: str


LIGHT = Palette("#ffffff", "#1f2430", "#6b7280", "#0b6e69", "#d5efec", "#9a4a06", "#fde9d3")
DARK = Palette("#14181f", "#e8eaf0", "#9aa3b2", "#5fd0c5", "#12403d", "#f2a65a", "#4a2f14")


@dataclass(frozen=True, slots=True)
class Drawn:
    """One picture to be: the script that draws it, where it lies, and for which screens."""

    script: Path
    picture: Path
    palette: Palette


def rtl(text: str) -> str:
    """Begin every line of Arabic text with U+200F, so that its marks and numbers stand on the right side."""
    return "\n".join("\u200f" + line for line in text.split("\n"))


def code(text: str) -> str:
    """Isolate code inside Arabic text, so that it keeps its own direction."""
    return f"\u2066{text}\u2069"


def figures(root: Path) -> Iterator[Drawn]:
    """Yield every picture of every lesson under `root` that has a script, light and dark."""
    for script in sorted((root / "lessons").glob("*/drawings/*.py")):
        pictures = script.parent.parent / "pictures"
        yield Drawn(script, pictures / f"{script.stem}.png", LIGHT)
        yield Drawn(script, pictures / f"{script.stem}_dark.png", DARK)


def stale(root: Path) -> list[Drawn]:
    """Return the pictures that are missing or were drawn by other sources than today's."""
    return [each for each in figures(root) if _kept_fingerprint(each.picture) != fingerprint(each)]


def fingerprint(drawn: Drawn) -> str:
    """Return the SHA-256 of all that decides how a picture looks: its script, this module, its colours."""
    parts = (drawn.script.read_bytes(), Path(__file__).read_bytes(), repr(drawn.palette).encode())
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def draw(drawn: Drawn) -> None:
    """Draw one picture into its file. The script defines `HEIGHT` in inches and `draw(axes, palette)`."""
    _register_fonts()
    module = _loaded(drawn.script)
    palette = drawn.palette
    with mpl.rc_context({"font.family": FAMILY, "font.size": 10, "text.color": palette.ink, "text.parse_math": False}):
        figure = Figure(figsize=(WIDTH, module.HEIGHT), dpi=DPI, facecolor=palette.paper)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        # Units are CSS pixels on a phone, from the top left corner.
        axes.set_xlim(0, WIDTH * 100)
        axes.set_ylim(module.HEIGHT * 100, 0)
        module.draw(axes, palette)
        drawn.picture.parent.mkdir(exist_ok=True)
        marks = {_MARK: fingerprint(drawn), "Software": None}
        figure.savefig(drawn.picture, facecolor=palette.paper, metadata=marks)
    _shrink(drawn.picture)


def _shrink(picture: Path) -> None:
    """Keep 64 colours: the drawings are flat, and the files become a third as large."""
    from PIL.PngImagePlugin import PngInfo  # noqa: PLC0415  (needed here only)

    with Image.open(picture) as image:
        info = PngInfo()
        info.add_text(_MARK, str(image.info[_MARK]))
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(picture, optimize=True, pnginfo=info)


def _kept_fingerprint(picture: Path) -> str | None:
    try:
        with Image.open(picture) as image:
            return str(image.info.get(_MARK))
    except (OSError, SyntaxError):
        return None


def _loaded(script: Path) -> ModuleType:
    found = importlib.util.spec_from_file_location(f"drawing_{script.stem}", script)
    if found is None or found.loader is None:
        wrong = f"{script} is no Python file"
        raise ImportError(wrong)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _register_fonts() -> None:
    import fontpkg_ibm_plex_sans_arabic  # type: ignore[import-untyped]  # noqa: PLC0415  (only drawing needs it)

    folder = Path(fontpkg_ibm_plex_sans_arabic.__file__).parent / "files"
    for weight in ("Regular", "Bold"):
        font_manager.fontManager.addfont(str(folder / f"IBMPlexSansArabic-{weight}.ttf"))
