"""Blocks of files: what is made once, what is made again, and what a killed job leaves."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.files import read_json, write_json


class Copies:
    """A stage that copies texts to files. `bad`: items that fail; `made`: those that it made last."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made, self.bad = folder, list[str](), set[str]()
        self.killed_at = ""

    def run(self, block: str = "a+2", version: int = 1, **texts: str) -> Mapping[str, str]:
        """Run the job of a block; return its manifest's entries."""
        self.made = []
        items = [
            Item([self.path(name), self.path(name, "json")], [version, text], partial(self._copy, name, text))
            for name, text in texts.items()
        ]
        manifest = self.folder / f"blocks/{block}.json"
        manifest.unlink(missing_ok=True)  # as Snakemake does
        make_block(manifest, items)
        entries: Mapping[str, str] = read_json(manifest)["made_from"]
        return entries

    def path(self, name: str, form: str = "txt") -> Path:
        return self.folder / f"{name}.{form}"

    def _copy(self, name: str, text: str) -> None:
        if name == self.killed_at:
            raise KeyboardInterrupt
        if name in self.bad:
            raise PubmillError(f"{name} cannot be copied")
        self.made.append(name)
        self.path(name).write_text(text)
        write_json(self.path(name, "json"), {"length": len(text)})


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    return Copies(tmp_path)


def test_items_made_from_something_else_are_made_again(copies: Copies) -> None:
    before = copies.run(a="1", b="2")
    assert copies.made == ["a", "b"]
    assert list(before) == ["../a.json", "../a.txt", "../b.json", "../b.txt"]
    after = copies.run("a+3", a="1", b="2", c="3")
    assert copies.made == ["c"] and before.items() <= after.items()
    copies.run(a="1", b="2")
    copies.run(a="1", b="3")
    assert copies.made == ["b"] and copies.path("b").read_text() == "3"
    copies.run(version=2, a="1", b="3")
    assert copies.made == ["a", "b"]


@pytest.mark.parametrize("form", ["txt", "json"])
def test_missing_and_changed_files_are_made_again(copies: Copies, form: str) -> None:
    copies.run(a="1", b="2")
    copies.path("a", form).unlink()
    copies.path("b", form).write_text("changed")
    copies.run(a="1", b="2", c="3")
    assert copies.made == ["a", "b", "c"]
    assert json.loads(copies.path("b", "json").read_text()) == {"length": 1}


def test_a_killed_job_goes_on_where_it_was(copies: Copies) -> None:
    copies.killed_at = "b"
    with pytest.raises(KeyboardInterrupt):
        copies.run(a="1", b="2", c="3")
    assert copies.made == ["a"] and not (copies.folder / "blocks/a+2.json").exists()
    copies.killed_at = ""
    copies.run(a="1", b="2", c="3")
    assert copies.made == ["b", "c"]
    copies.killed_at = "a"
    with pytest.raises(KeyboardInterrupt):
        copies.run(a="changed")
    copies.killed_at = ""
    copies.run(a="1")  # of its files, some may have been replaced
    assert copies.made == ["a"]


def test_failing_items_and_missing_inputs_are_named(copies: Copies, tmp_path: Path) -> None:
    copies.bad = {"b", "c", "d", "e", "f", "g"}
    texts: dict[str, Any] = dict.fromkeys("abcdefgh", "1")
    with pytest.raises(PubmillError, match=r"(?s)b cannot be copied\n.*f cannot be copied\nand 1 more"):
        copies.run(**texts)
    assert copies.made == ["a", "h"] and not list(copies.folder.glob("blocks/*.json"))
    copies.bad = set()
    copies.run(**texts)
    assert copies.made == list("bcdefg")
    with pytest.raises(PubmillError, match="none is missing, although .* prints commands"):
        digest_of(tmp_path / "none")
