"""The same code and the small numbers it makes at other places in memory for each block: places decide speed, too.

Two equal loops differed by 3 to 15 % in one process of 75, for as long as it lived, and a copy of the slower one's code
was as fast as the other (CPython 3.11, AMD EPYC): a processor confuses places whose last twelve bits are the same. What
is measured is the code, not its place, so each block meets another, as likely a bad one for every variant.
Law: a copy differs in nothing but its place, and every copy is kept: another could lie where one was let go.
"""

import contextlib
import types
from collections.abc import Callable, Iterable, Mapping

from .functions import Variant

PLACES = 61
"""A prime: the four blocks of a round do not meet the same few places again and again. They span several pages."""
_LEAST_PLACES, _MOST_BYTES, _MOST_FUNCTIONS = 7, 1 << 20, 64
_HOLDS_CODE = ("compile", "dynamo", "jit", "__code__")
"""What is written in a source whose functions are known to somebody by their code, and must keep it."""
_STEP, _MOST_HELD = 37, 127


class Copies:
    """One piece of code, several times."""

    def __init__(self, code: types.CodeType) -> None:
        self._places = max(min(PLACES, _MOST_BYTES // _size(code)), _LEAST_PLACES)
        self._all = [code]

    def add(self) -> None:
        """Make one more copy, up to as many as there are places."""
        if len(self._all) < self._places:
            self._all.append(_again(self._all[0]))

    def filled(self) -> "Copies":
        """Make all of them, at once."""
        while len(self._all) < self._places:
            self.add()
        return self

    def at(self, turn: int) -> types.CodeType:
        """Give the copy whose turn it is."""
        return self._all[turn % len(self._all)]


class Movable:
    """Functions of the learner's file, as far as their names lead to them, and the copies of their code."""

    def __init__(self, names: Mapping[str, object], source: str, filename: str) -> None:
        found: dict[int, types.FunctionType] = {}
        if not any(word in source for word in _HOLDS_CODE):
            _find(names.values(), filename, found, set())
        self._all = [(function, Copies(function.__code__)) for function in found.values()]
        for _ in range(PLACES):  # the copies of one turn beside each other, as the first ones lie
            for _, copies in self._all:
                copies.add()

    def move(self, turn: int) -> None:
        """Let each function run the copy whose turn it is."""
        for function, copies in self._all:
            with contextlib.suppress(ValueError, TypeError):  # whose code was changed since takes no copy of the old
                function.__code__ = copies.at(turn)


class Moving:
    """All code that a source's blocks run, one place further for each block. `compile_` makes a variant's code.

    Nothing moves once `frames` are counted that torch's compiler has looked at since: it knows code by its object.
    """

    def __init__(
        self, compile_: Callable[[Variant, dict[str, object]], types.CodeType], frames: Callable[[], int]
    ) -> None:
        self._compile = compile_
        self._frames = frames
        self._none = frames()
        self._codes: dict[str, Copies] = {}
        self._movable = Movable({}, "", "")
        self._turn = 0

    def take(self, names: Mapping[str, object], source: str, filename: str) -> None:
        """Take the functions of the file that the set-up has made."""
        self._movable = Movable(names, source, filename)

    def function(self, variant: Variant, names: dict[str, object]) -> types.FunctionType:
        """Make a function of a variant over names, which are also the defaults of its own that are there already."""
        self._turn += 1
        code = self._copies(variant, names).at(self._turn if self._frames() == self._none else 0)
        parameters = code.co_varnames[: code.co_argcount]
        return types.FunctionType(code, names, variant.name, tuple(names[name] for name in parameters))

    def move(self, variant: Variant, function: types.FunctionType | None) -> object:
        """Let the next block meet all code elsewhere, its own `function` too; what is given must be held meanwhile."""
        self._turn += 1
        if self._frames() == self._none:
            self._movable.move(self._turn)
            if function is not None:
                function.__code__ = self._codes[variant.name].at(self._turn)
        return stir(self._turn)

    def _copies(self, variant: Variant, names: dict[str, object]) -> Copies:
        kept = self._codes.get(variant.name)
        if kept is not None:
            code = kept.at(0)
            own = {*code.co_varnames, *code.co_cellvars}
            if own & names.keys() == set(code.co_varnames[: code.co_argcount]):
                return kept
        self._codes[variant.name] = made = Copies(self._compile(variant, names)).filled()
        return made


def stir(turn: int) -> object:
    """Give some numbers to be held during a block: those that it makes lie elsewhere than in the block before."""
    count = turn * _STEP % _MOST_HELD
    return [1 << 20 | one for one in range(count)], [float(one) for one in range(count)]


def _again(code: types.CodeType) -> types.CodeType:
    inner = tuple(_again(const) if isinstance(const, types.CodeType) else const for const in code.co_consts)
    return code.replace(co_consts=inner)


def _size(code: types.CodeType) -> int:
    return len(code.co_code) * 2 + sum(_size(const) for const in code.co_consts if isinstance(const, types.CodeType))


def _find(values: Iterable[object], filename: str, found: dict[int, types.FunctionType], classes: set[int]) -> None:
    """Find functions of the file among values and in plain classes among them, up to the most that are moved."""
    for value in list(values):
        if type(value) is types.FunctionType and value.__code__.co_filename == filename:
            if len(found) < _MOST_FUNCTIONS:
                found[id(value)] = value
        elif type(value) is type and id(value) not in classes and len(classes) < _MOST_FUNCTIONS:
            classes.add(id(value))
            _find(vars(value).values(), filename, found, classes)
