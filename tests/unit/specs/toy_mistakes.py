"""Mistakes made in a copy of the specs, and the messages about them."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pubmill import specs
from pubmill.errors import PubmillError
from pubmill.specs.loading import KINDS, reference_faults


def mistakes(folder: Path, scale: str = "small") -> str:
    with pytest.raises(PubmillError) as raised:
        specs.load(folder, scale)
    return str(raised.value)


def wrong_references(**specs: dict[str, Any]) -> dict[Any, str]:
    """The locations in some specs, by kind and name, of references that are wrong beside these, and why."""
    faults = reference_faults({**{kind: {} for kind in KINDS}, **specs})
    return {at: fault.split(";")[0] for *_, at, fault in faults}


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def check_mistakes(folder: Path, rows: Iterable[tuple[str, str, str, str | None, str]]) -> None:
    """Check the messages about mistakes, each in a spec of its own, as loading is slow.

    rows: a spec such as `models/x`, the text that a mistake replaces in a copy of it, the mistake, a text of
    the line that is named (None: any), and what the message says.
    """
    known: list[tuple[Path, str, str]] = []
    for number, (name, old, new, line, fault) in enumerate(rows):
        kind = Path(name).parent
        stem = f"table{number + 50}" if kind.parent.name == "tables" else f"{Path(name).name}-{number}"
        path = folder / kind / f"{stem}.yaml"
        path.write_text((folder / f"{name}.yaml").read_text(encoding="utf-8"), encoding="utf-8")
        replace(path, old, new)
        lines = path.read_text(encoding="utf-8").splitlines()
        at = next((str(n) for n, text in enumerate(lines, 1) if line and line in text), "[0-9]+")
        path.write_text(
            re.sub("(?m)^name: .*$", f"name: {stem}", "\n".join(lines), count=1), encoding="utf-8"
        )
        known.append((path, f"{path.relative_to(folder.parent)}:{at}", fault))
    said = mistakes(folder, "full").splitlines()
    for path, *_ in known:
        if any(f"/{path.stem}.yaml:" in line for line in said):
            path.unlink()
    if any(path.exists() for path, *_ in known):  # contradictions between specs are reported last
        said += mistakes(folder, "full").splitlines()
    for _, place, fault in known:
        assert any(re.match(place + r"\b", line) and fault in line for line in said), (place, fault, said)
