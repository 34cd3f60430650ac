"""Mistakes made in a copy of the specs, and the messages about them."""

from pathlib import Path

import pytest

from pubmill import specs
from pubmill.errors import PubmillError


def mistakes(folder: Path, scale: str = "small") -> str:
    with pytest.raises(PubmillError) as raised:
        specs.load(folder, scale)
    return str(raised.value)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
