"""Places of a module that can be mutated, each with its replacement.

Left out is what cannot change behaviour by construction: annotations, decorators, type-checking blocks,
assertions, which tell type checkers what is always so, the texts of errors, messages and logs,
`zip(..., strict=True)`, `md5(usedforsecurity=False)`, which only computers in FIPS mode notice, versions of
stages, of which only the change counts, constants of speed alone, estimates (`Needs`: memory and minutes,
`Bytes`), and the lines of `immaterial.yaml`.
"""

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_params"}
SKIPPED_KEYS = {"strict", "usedforsecurity"}
UNSEEN = {"print", "say", "log", "warn", "warning", "Needs", "Bytes", "iter_batches", "fetchmany"}
"""Functions of whose arguments no test sees a change: for people, estimates, or rows at once."""
UNSEEN_NAMES = re.compile(
    "version|_KNOWN|_?BLOCK|CHUNK|ROWS_PER_GROUP|COMPRESSION|CONNECTIONS|CACHED_WORDS|GATHERED|IN_CACHE|"
    ".*AT_ONCE"
)
"""Names of stages' versions, and of constants that decide speed and memory alone."""


IMMATERIAL = Path(__file__).with_name("immaterial.yaml")


@cache
def immaterial() -> dict[str, frozenset[str]]:
    """Map a file to those of its lines, without surrounding blanks, that no mutation can change visibly."""
    listed: dict[str, list[tuple[str, str]]] = yaml.safe_load(IMMATERIAL.read_text(encoding="utf-8"))
    return {file: frozenset(line for line, _ in lines) for file, lines in listed.items()}


@dataclass(frozen=True)
class Mutation:
    """One change of a file: the characters from `start` to `end` are replaced by `new`.

    Attributes:
        path: The file, relative to the checkout.
        number: Which mutation of its line this is, from 1.
        old: The source text before the change.
    """

    path: Path
    line: int
    number: int
    start: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        """FILE:LINE:NUMBER."""
        return f"{self.path.as_posix()}:{self.line}:{self.number}"

    def apply(self, text: str) -> str:
        """Return the text of the file with this change."""
        assert text[self.start : self.end] == self.old, f"{self.name}: the file has changed"
        return text[: self.start] + self.new + text[self.end :]


def mutations(root: Path, path: Path) -> list[Mutation]:
    """Return every mutation of the file `path`, which is relative to `root`."""
    text = (root / path).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: list[Mutation] = []
    numbers: dict[int, int] = {}
    skipped = immaterial().get(path.as_posix(), frozenset())
    for node, new in _changes(ast.parse(text)):
        if lines[node.lineno - 1].strip() in skipped:
            continue
        old = ast.get_source_segment(text, node)
        assert old is not None
        before = lines[node.lineno - 1].encode()[: node.col_offset].decode()
        start = starts[node.lineno - 1] + len(before)
        number = numbers[node.lineno] = numbers.get(node.lineno, 0) + 1
        found.append(Mutation(path, node.lineno, number, start, start + len(old), old, new))
    return found


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.AugAssign, str]]:
    """Yield each expression or assignment below `node` that can be changed, with its new source text."""
    for field, child in _children(node):
        if isinstance(child, ast.expr | ast.AugAssign):
            new = _changed(child)
            if new is not None:
                text = ast.unparse(new)
                yield child, text if isinstance(child, ast.AugAssign) else f"({text})"
            elif field in ("test", "ifs") and not isinstance(child, ast.Constant):
                yield child, f"(not {ast.unparse(child)})"
        yield from _changes(child)


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    is_unseen = isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert) or _is_unseen_call(node)
    if is_unseen or _is_unseen_name(node) or _is_for_type_checkers(node):
        return
    for field, value in ast.iter_fields(node):
        if field not in SKIPPED_FIELDS and not (isinstance(node, ast.keyword) and node.arg in SKIPPED_KEYS):
            children = value if isinstance(value, list) else [value]
            yield from ((field, child) for child in children if isinstance(child, ast.AST))


def _is_unseen_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    return name in UNSEEN


def _is_unseen_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and bool(UNSEEN_NAMES.fullmatch(ast.unparse(node.targets[0])))


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _changed(node: ast.expr | ast.AugAssign) -> ast.AST | None:
    """Return a changed copy, or None if a node of this kind is not changed."""
    new = deepcopy(node)
    match new:
        case ast.Compare() if type(new.ops[0]) in COMPARISONS:
            new.ops[0] = COMPARISONS[type(new.ops[0])]()
        case ast.BinOp() | ast.AugAssign() if type(new.op) in ARITHMETIC and not _is_text(new):
            new.op = ARITHMETIC[type(new.op)]()
        case ast.BoolOp():
            new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not()):
            return new.operand
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value) | float(value)):
            new.value = value + 1
        case _:
            return None
    return new


def _is_text(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether an operand is literal text, for which any other operator would be a type error."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in sides
    )
