from bot.adapters.web.serve import WORDS, look
from content.loader import load_course


def test_the_course_has_every_phrase_and_picture_that_the_page_needs() -> None:
    course = load_course()
    seen = look(course)
    assert set(seen.words) == WORDS
    assert set(seen.sizes) == set(course.pictures)
