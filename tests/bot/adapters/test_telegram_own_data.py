"""A learner's own data on Telegram: documents in the chat, and a deletion whose last words still arrive."""

import json

from botapi.place import Place
from sqlalchemy import func, select

from bot.adapters.telegram.hearing import PLATFORM
from bot.stores import owned, posted, tables


async def test_a_copy_comes_as_documents(place: Place) -> None:
    async with place.bot():
        learner = place.person()
        learner.send("/export")
        await learner.until(lambda: sum(note.kind == "document" for note in learner.screen()) == 2)
        document, cards = (note.data for note in learner.screen() if note.kind == "document")
        assert json.loads(document)["tables"]["accounts"][0]["platform"] == PLATFORM
        assert cards.startswith(b"#separator:Comma\n")


async def test_after_a_deletion_the_last_words_arrive_and_the_same_person_is_somebody_new(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send("/delete")
        await learner.sees("حذف كل البيانات")
        before = (await bot.app.enter(PLATFORM, "7")).id
        learner.press("حذف نهائي")
        await learner.sees("حُذف كل شيء")
        await bot.idle()
        async with bot.store._reader.connect() as connection:
            for table in owned.metadata.sorted_tables:
                if owned.is_of_a_learner(table):
                    assert not (await connection.execute(select(func.count()).select_from(table))).scalar_one(), table
            bodies = (await connection.execute(select(posted.arrivals.c.body))).scalars().all()
        assert set(bodies) <= {""}
        learner.send("وين وصلت")
        await learner.sees("لم تبدأ القراءة بعد")
        async with bot.store._reader.connect() as connection:
            chats = (await connection.execute(select(tables.chats.c.id))).scalars().all()
        assert len(chats) == 1
        assert before not in chats
