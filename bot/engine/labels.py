"""The fixed labels of buttons typed as text: which press they are."""

from bot.engine import asks, boards, presses, verdicts
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.expects import exercise_of
from bot.engine.letters import fold
from bot.engine.moment import Moment
from bot.engine.spoken import OF_A_CARD
from sandbox_runner.protocol import Device

_OF_THE_ASK = {
    "flip": presses.FLIP,
    "knew": presses.KNEW,
    "missed": presses.MISSED,
    "hard": presses.HARD,
    "easy": presses.EASY,
    "confirm": presses.CONFIRM,
}
_OF_THE_BOARD = {"join_board": boards.JOIN, "rename_on_board": boards.JOIN, "leave_board": boards.LEAVE}
_COMMANDS = {
    "go_on_reading": Command.NEXT,
    "begin_first": Command.NEXT,
    "begin_reading": Command.NEXT,
    "outline": Command.LESSON,
    "quiz_again": Command.QUIZ,
    "cards_again": Command.CARDS,
    "next_myth": Command.MYTHS,
    "cancel_run": Command.CANCEL,
}


def vote(moment: Moment, text: str) -> str | None:
    """Give the press that a typed vote stands for while a claim waits for one; None when it is no vote."""
    ask, folded = moment.known.ask, fold(text)
    if ask is None or ask.kind != "myth" or ask.id != moment.session.asked or asks.fault(moment, ask):
        return None
    votes = (each for each in verdicts.VOTES if each in ask.options)
    meant = next((each for each in votes if folded == fold(moment.words.text(f"vote.{each}"))), None)
    return encode(Op.ANSWER, ask.id, meant) if meant else None


def payload(moment: Moment, text: str) -> str | None:
    """Give the press that a typed label stands for now; None when it is no label, or leads nowhere now."""
    folded = fold(text)

    def typed(key: str) -> bool:
        return bool(folded) and folded == fold(moment.words.text(f"button.{key}"))

    ask = moment.known.ask
    if ask and not asks.fault(moment, ask):
        said = OF_A_CARD if ask.kind == "card" and ask.id == moment.session.asked else {}
        options = (option for key, option in _OF_THE_ASK.items() if typed(key) or folded in said.get(key, ()))
        option = next(options, "")
        if option:
            return encode(Op.ANSWER, ask.id, option)
    if ask and ask.kind == "card" and ask.id == moment.session.asked and typed("hold"):
        return encode(Op.REVIEW, "hold", ask.item)
    if ask and ask.id == moment.session.asked and typed("report"):
        return encode(Op.REPORT, ask.item)
    if typed("review_more") or typed("held"):
        return encode(Op.REVIEW, "more" if typed("review_more") else "held")
    if ask and moment.session.graded and moment.session.graded.ask == ask.id and typed("undo"):
        return encode(Op.REVIEW, "undo", ask.id)
    pending = moment.session.pending
    if pending and pending.offered and (typed("accept_repair") or typed("refuse_repair")):
        return encode(Op.ACCEPT, pending.check, "yes" if typed("accept_repair") else "no")
    device = next((each for each in Device if typed(f"on_{each}")), None)
    if pending and pending.choosing and device:
        return encode(Op.ACCEPT, pending.check, device.value)
    board = next((option for key, option in _OF_THE_BOARD.items() if typed(key)), "")
    exercise = exercise_of(moment.session.expects)
    if board and exercise:
        return encode(Op.BOARD, exercise, board)
    go_on = presses.go_on_with_series(moment)
    if go_on and folded == fold(go_on.label):
        return go_on.payload
    command = next((each for each in Command if typed(each.value)), None)
    command = command or next((each for key, each in _COMMANDS.items() if typed(key)), None)
    switch = next((each for each in ("on", "off") if typed(f"remind_{each}")), "")
    return encode(Op.COMMAND, command.value) if command else encode(Op.REMIND, f"{switch}.") if switch else None
