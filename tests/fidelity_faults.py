"""Values of specs without a statement under `method:`, and statements about values that a spec lacks."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pubmill.specs import strict_yaml
from pubmill.specs.fidelity import DESCRIPTIVE, KINDS, RECIPES, Key, has_key, parse_keys, recipe_defaults

COMPLETE = ("corpora", "vocabs", "pretraining", "protocols", "choices")
"""Kinds of specs whose every value needs a statement."""


def faults(folder: Path) -> list[str]:
    """Report the faults of all specs, each with its file and line."""
    paths = [(kind, path) for kind in KINDS for path in sorted((folder / kind).rglob("*.yaml"))]
    return [fault for kind, path in paths for fault in _faults(kind, path, folder)]


def _faults(kind: str, path: Path, folder: Path) -> Iterator[str]:
    document = strict_yaml.read(path, path.relative_to(folder.parent).as_posix(), [])
    values = {key: value for key, value in document.value.items() if key not in DESCRIPTIVE}
    if kind == "choices":
        values = {
            key: one for recipe in RECIPES.get(path.stem, ()) for key, one in recipe_defaults(recipe).items()
        }
    has_paper = kind in ("choices", "tables") or document.value.get("paper") is not None
    stated = document.value.get("method", {})
    if stated and not has_paper:
        yield f"{document.where(('method',))}: `method` needs `paper`"
    keys = {about: parse_keys(about) for about in stated}
    for about, named in keys.items():
        strangers = [".".join(key) for key in named if not has_key(values, key)]
        if strangers and not stated[about].get("does"):
            yield f"{document.where(('method', about))}: the spec has no {', '.join(strangers)}"
    covered = {key for named in keys.values() for key in named}
    for leaf in _leaves(values) if kind in COMPLETE and has_paper else ():
        if not any(leaf[:length] in covered for length in range(1, len(leaf) + 1)):
            yield f"{document.where(leaf)}: {'.'.join(leaf)} has no statement under `method`"


def _leaves(value: Any, key: Key = ()) -> Iterator[Key]:
    """Yield the keys of all values that are no mapping, and of empty mappings."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*key, str(name)))
    else:
        yield key
