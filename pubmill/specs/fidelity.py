"""Statements of specs on their papers' methods: the rows of docs/fidelity.md.

Each file is read without the spec that it includes, so that a variant has statements only about the values
that it sets itself. The files of `choices` have statements about what no spec contains: the defaults of
recipes, which count as the values of these files, and what the code does.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from pubmill.recipes import FinetuningRecipe, PretrainingRecipe
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.specs import strict_yaml
from pubmill.specs.spec_types import Statement

KINDS = ("corpora", "vocabs", "pretraining", "protocols", "choices", "tables", "datasets", "models")
ALL_PAPERS = "all papers"
"""The paper of statements about choices."""
RECIPES = {"finetuning": (FinetuningRecipe,), "pretraining": (PretrainingRecipe, PackingRecipe)}
"""File of choices -> recipes whose defaults it has statements about."""
DESCRIPTIVE = ("name", "label", "citation", "notes", "paper", "method", "include", "equivalence", "reference")
"""Keys that are no method of a paper; the rule of `equivalence` is ours and has reasons of its own."""
LONGEST_VALUE = 160

Key = tuple[str, ...]


@dataclass(frozen=True)
class FidelityRow:
    """A statement of a spec (`protocols/blurb`), what it is about, what is done here, and the spec's keys.

    `heirs`: the specs that include that spec and have neither these keys nor a statement of their own.
    """

    paper: str
    spec: str
    about: str
    here: str
    statement: Statement
    keys: tuple[Key, ...] = ()
    heirs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _File:
    """A spec as written. `paper`: that it repeats; `stated`: its statements; `included`: the spec that it
    includes (`protocols/blurb`)."""

    kind: str
    spec: str
    paper: str
    stated: dict[str, Any] | None
    values: dict[str, Any]
    included: str | None

    def inherits(self, about: str) -> bool:
        """Return whether what a statement of the included spec says holds here too."""
        own = {key for keys in self.stated or () for key in parse_keys(keys)}
        keys = parse_keys(about)
        return self.stated != {} and not any(key in own or has_key(self.values, key) for key in keys)


def _spec_file(path: Path) -> _File:
    below = next(parent for parent in path.parents if parent.name in KINDS)
    kind, spec = below.name, path.relative_to(below.parent).with_suffix("").as_posix()
    written = strict_yaml.read(path, path.relative_to(below.parents[1]).as_posix(), []).value
    if kind == "choices":
        paper, recipes = ALL_PAPERS, RECIPES.get(path.stem, ())
        values = {key: value for recipe in recipes for key, value in recipe_defaults(recipe).items()}
    else:
        paper = spec.split("/")[1] if kind == "tables" else written.get("paper") or ""
        values = {key: value for key, value in written.items() if key not in DESCRIPTIVE}
    included = f"{spec.rpartition('/')[0]}/{written['include']}" if "include" in written else None
    return _File(kind, spec, paper, written.get("method"), values, included)


@cache
def recipe_defaults(recipe: type[Any]) -> dict[str, Any]:
    """Return the defaults of a recipe's fields, and of the recipes in it, by their keys."""
    defaults: dict[str, Any] = {}
    hints = get_type_hints(recipe)
    for one in fields(recipe):
        inner = hints[one.name]
        if isinstance(inner, type) and is_dataclass(inner):
            defaults |= {one.name: made} if (made := recipe_defaults(inner)) else {}
        elif one.default is not MISSING:
            defaults[one.name] = one.default
        elif one.default_factory is not MISSING:
            defaults[one.name] = one.default_factory()
    return defaults


def rows(folder: Path) -> list[FidelityRow]:
    """Return the statements of all specs, by paper and kind of spec."""
    return rows_of(path for kind in KINDS for path in sorted((folder / kind).rglob("*.yaml")))


def rows_of(paths: Iterable[Path]) -> list[FidelityRow]:
    """Return the statements of some specs (`specs/KIND/NAME.yaml`), by paper and in the order given."""
    files = [_spec_file(path) for path in paths]
    including: dict[str | None, list[_File]] = {}
    for file in files:
        including.setdefault(file.included, []).append(file)
    statements = [row for file in files for row in _statement_rows(file, including.get(file.spec, ()))]
    return sorted(statements, key=lambda row: row.paper)


def digest(rows: Iterable[FidelityRow]) -> str:
    """Return a digest of statements with the values they are about; comments in specs do not count."""
    shown = [(row.paper, row.spec, row.about, row.here, row.statement.model_dump()) for row in rows]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def _statement_rows(file: _File, including: Iterable[_File]) -> Iterator[FidelityRow]:
    for about, given in (file.stated or {}).items():
        statement = Statement.model_validate(given)
        keys = [key for key in parse_keys(about) if has_key(file.values, key)]
        here = "; ".join(_value_text(file.values, key, named=len(keys) > 1) for key in keys)
        if statement.does:
            here = f"{here}: {statement.does}" if 0 < len(here) <= LONGEST_VALUE else statement.does
        # keys below the same key together: `recipe.optimisation: beta1, beta2`
        below = dict[str, list[str]]()
        for key in parse_keys(about):
            below.setdefault(".".join(key[:-1]), []).append(key[-1])
        title = "; ".join(
            f"{above}{': ' if len(names) > 1 else '.'}{', '.join(names)}".lstrip(".: ")
            for above, names in below.items()
        )
        # What a table states in words alone is about its own cells.
        heirs = [one.spec for one in including if (keys or file.kind != "tables") and one.inherits(about)]
        yield FidelityRow(file.paper, file.spec, title, here, statement, tuple(keys), tuple(heirs))


def parse_keys(about: str) -> list[Key]:
    """Return the keys that a statement is about: `a.b, c` is `(a, b)` and `(c,)`."""
    return [tuple(key.strip().split(".")) for key in about.split(",")]


def has_key(values: Any, key: Key) -> bool:
    """Return whether nested mappings have a key."""
    for name in key:
        if not isinstance(values, Mapping) or name not in values:
            return False
        values = values[name]
    return True


def _value_text(values: Any, key: Key, named: bool) -> str:
    """Return a value as one line of YAML, after its last key if it stands among others."""
    for name in key:
        values = values[name]
    text = yaml.safe_dump(values, default_flow_style=True, width=10**9, sort_keys=False, allow_unicode=True)
    text = text.removesuffix("\n").removesuffix("\n...").strip()
    return f"{key[-1]}: {text}" if named else text
