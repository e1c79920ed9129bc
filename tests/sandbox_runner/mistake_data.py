"""The snippets that have a mistake of measuring and their twins that have not, and how to join many into one source.

Law: a snippet says in its first lines where it runs (`# device: cpu` or `gpu`) and which code it must get. Joining
renames a snippet's own names only; the line numbers change, so lines are looked at where a snippet runs alone.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "mistakes"
_HEAD = re.compile(r"# device: (cpu|gpu)\n# code: (\w+)\n")
_WHOLE_PROCESS = {"oversubscribed", "graph_breaks", "compile_timed"}


@dataclass(frozen=True, slots=True)
class Snippet:
    """A source, the code that it must get (a twin: must not get), and what it needs."""

    name: str
    source: str
    device: str
    code: str

    @property
    def number(self) -> int:
        """The mistake's number in the list of 47."""
        return int(self.name[:2])

    @property
    def alone(self) -> bool:
        """Whether it says something only by itself: it compares variants, reads the clock, or marks the process."""
        cells = self.source.count("# %%")
        return cells > 2 or "import time" in self.source or self.code in _WHOLE_PROCESS

    @property
    def kind(self) -> str:
        """What it may be joined with."""
        return "compile" if "torch.compile" in self.source else "torch" if "import torch" in self.source else "numpy"


def snippets(which: str) -> Iterator[Snippet]:
    """Give the snippets of `mistake` or `twin`."""
    for path in sorted(FOLDER.glob(f"[0-9]*/{which}.py")):
        source = path.read_text(encoding="utf-8")
        head = _HEAD.match(source)
        if head is None:
            message = f"{path} does not say its device and code"
            raise ValueError(message)
        yield Snippet(path.parent.name, source, head[1], head[2])


def spelt(which: str, kind: str) -> Iterator[Snippet]:
    """Give spellings of mistakes or their twins (`kind`) that the text alone shows (`read`), or a call (`watched`).

    A spelling begins with a line `#### 34 mistake its name`; in place of a code it has none: its number is looked at.
    """
    text = (FOLDER / f"spelt_{which}.txt").read_text(encoding="utf-8")
    for part in text.split("#### ")[1:]:
        head, _, source = part.partition("\n")
        number, found, name = head.split(" ", 2)
        if found == kind:
            yield Snippet(f"{number} {name}", source, "cpu", "")


def innocents() -> Iterator[Snippet]:
    """Give ordinary snippets, in which nothing is to be found."""
    for path in sorted((FOLDER / "innocent").glob("*.py")):
        yield Snippet(path.stem, path.read_text(encoding="utf-8"), "cpu", "")


def batches(found: Sequence[Snippet], most: int = 8) -> Iterator[list[Snippet]]:
    """Divide snippets that may be joined into groups of one kind."""
    for kind in ("numpy", "torch", "compile"):
        group = [snippet for snippet in found if snippet.kind == kind]
        for start in range(0, len(group), most):
            yield group[start : start + most]


def joined(group: Sequence[Snippet]) -> str:
    """Give one source with a variant for each snippet, named as it is."""
    setups, variants = [], []
    for i, snippet in enumerate(group):
        setup, body = _parts(snippet.source)
        own = _Own(f"_{i}", _bound([*setup, *body]))
        setups += [own.visit(statement) for statement in setup]
        variants.append((snippet.name, [own.visit(statement) for statement in body]))
    cells = [f"# %% {name}\n{ast.unparse(ast.Module(body, []))}" for name, body in variants]
    return "\n\n".join(["# %% setup\n" + ast.unparse(ast.Module(setups, [])), *cells]) + "\n"


def _parts(source: str) -> tuple[list[ast.stmt], list[ast.stmt]]:
    marks = [i for i, line in enumerate(source.splitlines(), 1) if line.startswith("# %%")]
    body = ast.parse(source).body
    if not marks:
        return body[:-1], body[-1:]
    return [s for s in body if s.lineno < marks[-1]], [s for s in body if s.lineno > marks[-1]]


def _bound(body: list[ast.stmt]) -> set[str]:
    names = {n.id for statement in body for n in ast.walk(statement)
             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip
    return names | {s.name for s in body if isinstance(s, ast.FunctionDef | ast.ClassDef)}


class _Own(ast.NodeTransformer):
    """Renames a snippet's own names."""

    def __init__(self, suffix: str, names: set[str]) -> None:
        self._suffix, self._names = suffix, names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        name = node.id + self._suffix if node.id in self._names else node.id
        return ast.copy_location(ast.Name(name, node.ctx), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        bodies = [each for each in node.body if not isinstance(each, ast.Assign)]  # attributes keep their names
        for each in (*bodies, *node.bases, *node.decorator_list):
            self.visit(each)
        node.name += self._suffix if node.name in self._names else ""
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        if node.name in self._names:
            node.name += self._suffix
        # A parameter hides the name outside, and is renamed with it: the two keep meaning what they meant.
        for arg in node.args.args:
            arg.arg += self._suffix if arg.arg in self._names else ""
        return node
