"""The teacher's command: `python -m content check | new | draw | table | schema`; no lesson's code is run here."""

import argparse
import dataclasses
import json
import sys
from pathlib import Path

from content import beginning, loader, places, recorded, schema, table
from content.faults import CourseError


def main(argv: list[str] | None = None) -> int:
    """Run one command; 0 when all is well, 1 when the course has faults or figures are stale, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m content", description="Check and draw the lessons.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="read the whole course and tell every fault with file and line")
    check.add_argument("--root", type=Path, default=loader.HERE, help="the folder with course.yaml")
    check.add_argument("--json", action="store_true", help="print the faults as JSON")
    check.add_argument(
        "--release", action="store_true", help="fail too where a recorded measurement is missing or stale"
    )
    new = commands.add_parser("new", help="begin a lesson: its folder with every part, each saying what to write")
    new.add_argument("slug", help="the lesson's name: small Latin letters, digits and hyphens")
    new.add_argument("--root", type=Path, default=loader.HERE, help="the folder with course.yaml")
    counted = commands.add_parser("table", help="print the table of lessons and their parts")
    counted.add_argument("--root", type=Path, default=loader.HERE, help="the folder with course.yaml")
    counted.add_argument("--into", type=Path, help="write it into this file, between its two marks")
    commands.add_parser("schema", help="print the JSON Schema of lesson.yaml for editors")
    draw = commands.add_parser("draw", help="draw the lessons' figures, for light and for dark screens")
    draw.add_argument("--root", type=Path, default=loader.HERE, help="the folder with course.yaml")
    draw.add_argument("--check", action="store_true", help="draw nothing, only say which figures are stale")
    chosen = parser.parse_args(argv)
    if chosen.command == "check":
        return _check(chosen.root, as_json=chosen.json, release=chosen.release)
    if chosen.command == "schema":
        sys.stdout.write(schema_text())
        return 0
    if chosen.command == "new":
        return _new(chosen.root, chosen.slug)
    if chosen.command == "table":
        return _table(chosen.root, chosen.into)
    return _draw(chosen.root, only_look=chosen.check)


def schema_text() -> str:
    """Return the JSON Schema of a lesson's file, as it is kept in `schema.json`."""
    described = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema.Lesson.model_json_schema()}
    return json.dumps(described, ensure_ascii=False, indent=2) + "\n"


def _check(root: Path, *, as_json: bool, release: bool) -> int:
    course, faults = loader.survey(root)
    if course and (filled := places.given()):
        faults = tuple(places.unfilled(root / "phrases.yaml", course.phrases, filled))
        course = None if faults else course
    wanting = recorded.wanting(course) if course else []
    left_over = beginning.unwritten(root)
    if as_json:
        found = {
            "ok": course is not None,
            "hash": course.hash if course else None,
            "lessons": [lesson.slug for lesson in course.lessons] if course else [],
            "faults": [dataclasses.asdict(fault) for fault in faults],
            "not_recorded": wanting,
            "unwritten": [dataclasses.asdict(each) for each in left_over],
        }
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    elif course:
        if release:
            sys.stdout.writelines(f"not recorded: {each}\n" for each in wanting)
        machines, left = len(course.recorded), len(wanting)
        sys.stdout.write(f"{len(course.lessons)} lesson(s), no fault; hash {course.hash[:12]}\n")
        sys.stdout.write(f"{machines} recorded machine(s); {left} measurement(s) missing or stale\n")
    else:
        sys.stdout.writelines(f"{fault}\n" for fault in faults)
        sys.stdout.write(f"{len(faults)} fault(s)\n")
    if left_over and not as_json:
        sys.stdout.writelines(f"{each}\n" for each in left_over)
        sys.stdout.write(f"{len(left_over)} text(s) and file(s) still to write\n")
    return 0 if course and not left_over and not (release and (wanting or not course.recorded)) else 1


def _new(root: Path, slug: str) -> int:
    try:
        written = beginning.begin(root, slug)
    except beginning.RefusedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.writelines(f"written: {name}\n" for name in written)
    sys.stdout.write(f"named in course.yaml: {slug}; `python -m content check` lists what is still to write\n")
    return 0


def _table(root: Path, into: Path | None) -> int:
    try:
        course = loader.load_course(root)
        if into is None:
            sys.stdout.write(table.table(course))
        else:
            word = "written" if table.write(into, course) else "unchanged"
            sys.stdout.write(f"{word}: {into}\n")
    except (CourseError, table.NoPlaceError, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _draw(root: Path, *, only_look: bool) -> int:
    import content.drawing as drawing  # noqa: PLC0415, PLR0402  (matplotlib is slow to import; only this command needs it)

    stale = drawing.stale(root)
    if not only_look:
        for figure in stale:
            drawing.draw(figure)
    word = "stale" if only_look else "drawn"
    sys.stdout.writelines(f"{word}: {figure.picture.relative_to(root)}\n" for figure in stale)
    return 1 if only_look and stale else 0


if __name__ == "__main__":
    sys.exit(main())
