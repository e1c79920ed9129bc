from pathlib import Path

from PIL import Image

from content import drawing, loader


def test_every_figure_is_drawn_by_the_sources_of_today() -> None:
    stale = [drawn.picture.relative_to(loader.HERE) for drawn in drawing.stale(loader.HERE)]
    assert stale == [], "run `python -m content draw` and look at what changed"


def test_a_changed_script_makes_both_its_pictures_stale(root: Path) -> None:
    script = next((root / "lessons" / "vectorise" / "drawings").glob("memory.py"))
    script.write_text(script.read_text() + "# changed\n")
    assert sorted(drawn.picture.name for drawn in drawing.stale(root)) == ["memory.png", "memory_dark.png"]


def test_a_lost_or_broken_picture_is_stale(root: Path) -> None:
    pictures = root / "lessons" / "vectorise" / "pictures"
    (pictures / "memory.png").unlink()
    (pictures / "broadcasting_dark.png").write_bytes(b"not a picture")
    assert sorted(drawn.picture.name for drawn in drawing.stale(root)) == ["broadcasting_dark.png", "memory.png"]


def test_drawing_twice_gives_the_same_bytes(root: Path) -> None:
    drawn = next(iter(drawing.figures(root)))
    drawing.draw(drawn)
    first = drawn.picture.read_bytes()
    drawing.draw(drawn)
    assert drawn.picture.read_bytes() == first
    assert drawing.stale(root) == []


def test_pictures_fit_a_phone_and_differ_between_schemes() -> None:
    for drawn in drawing.figures(loader.HERE):
        with Image.open(drawn.picture) as image:
            assert image.width == drawing.WIDTH * drawing.DPI
            assert image.height <= 2 * image.width
            corner = image.convert("RGB").getpixel((1, 1))
        assert corner == tuple(bytes.fromhex(drawn.palette.paper[1:]))


def test_every_line_of_arabic_begins_with_a_mark_and_code_is_isolated() -> None:
    assert drawing.rtl("سطر\nسطر") == "\u200fسطر\n\u200fسطر"
    assert drawing.code("(3, 4)") == "\u2066(3, 4)\u2069"


def test_text_has_enough_contrast_on_every_fill() -> None:
    for palette in (drawing.LIGHT, drawing.DARK):
        for text in (palette.ink, palette.faint, palette.accent, palette.other):
            assert contrast(text, palette.paper) >= 4.5, (text, palette.paper)
        for fill in (palette.accent_fill, palette.other_fill):
            assert contrast(palette.ink, fill) >= 4.5, fill


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, relative luminance."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: str) -> float:
    parts = [value / 255 for value in bytes.fromhex(color[1:])]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
