"""Each folder of tests/datasets is a dataset in small: its spec must convert it to what `expected.yaml` says.

A folder is called as the spec is. It holds one made-up file for each source, called as the source's role
with any ending (`train.tsv`, `archive.tar.gz`), and `expected.yaml`, which says for each split of the spec
the `counts` by measure and the `first` example in full, and may name another folder that has its `files`.
A new dataset needs no change here.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.dataset import convert
from pubmill.convert.exports import publish
from pubmill.errors import PubmillError
from pubmill.specs import strict_yaml
from pubmill.storage.files import read_jsonl_gz
from tests.dataset_specs import SPECS, conversion_of, published_of, spec_of
from tests.world import dataset_names

FIXTURES = Path(__file__).resolve().parents[2] / "datasets"
NAMES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
EXPECTED = "expected.yaml"


def expected_of(name: str) -> dict[str, Any]:
    errors: list[str] = []
    document = strict_yaml.read(FIXTURES / name / EXPECTED, f"{name}/{EXPECTED}", errors)
    assert not errors
    expected: dict[str, Any] = document.value
    return expected


def splits_of(name: str) -> dict[str, Any]:
    return {split: golden for split, golden in expected_of(name).items() if split != "files"}


def inputs_of(name: str) -> dict[str, Path]:
    """The folder's files by role."""
    folder = FIXTURES / expected_of(name).get("files", name)
    return {path.name.split(".")[0]: path for path in sorted(folder.iterdir()) if path.name != EXPECTED}


def made(name: str, inputs: Mapping[str, Path], output: Path) -> None:
    """Convert files as the spec says, but for its counts, which are those of the fixture."""
    counts = {split: golden["counts"] for split, golden in splits_of(name).items()}
    convert(replace(conversion_of(name), expect=counts), inputs, output)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_has_all_files_and_says_all_that_is_expected(name: str) -> None:
    spec, expected = spec_of(name), splits_of(name)
    assert inputs_of(name).keys() == spec.sources.keys()
    assert expected.keys() == set(spec.splits)
    promised = {str(split): counts.keys() for split, counts in spec.expect.items()}
    for split, golden in expected.items():
        assert golden.keys() == {"counts", "first"}
        assert promised.get(split, set()) <= golden["counts"].keys()


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_converted_and_published_as_expected(name: str, tmp_path: Path) -> None:
    """Where the published bytes are those of a source, the fixture's must come back too."""
    made(name, inputs_of(name), tmp_path / "made")
    for split, golden in splits_of(name).items():
        assert next(read_jsonl_gz(tmp_path / "made" / f"{split}.jsonl.gz")) == golden["first"]
    sources, recipe = spec_of(name).sources, published_of(name)
    unknown = {split: replace(file, sha256=None) for split, file in recipe.files.items()}
    written_files = publish(replace(recipe, files=unknown), tmp_path / "made", tmp_path / "published")
    for split, file in recipe.files.items():
        written = (tmp_path / "published" / written_files[split]["name"]).read_bytes()
        source = sources.get(split)
        if source is not None and file.sha256 is not None and source.sha256 == file.sha256:
            assert written == inputs_of(name)[split].read_bytes()
        assert written


@pytest.mark.parametrize("name", NAMES)
def test_a_folders_damaged_text_files_are_errors_with_file_and_line(name: str, tmp_path: Path) -> None:
    """A last line that is no row of any text format."""
    for role, path in inputs_of(name).items():
        if path.suffix not in (".tsv", ".txt", ".csv", ".iob2"):
            continue
        damaged = tmp_path / path.name
        damaged.write_bytes(path.read_bytes() + b"\xff\n")
        line = damaged.read_bytes().count(b"\n")
        with pytest.raises(PubmillError, match=rf"{re.escape(path.name)}:{line}: "):
            made(name, {**inputs_of(name), role: damaged}, tmp_path / "made")


def test_every_dataset_is_in_the_world_or_has_a_folder() -> None:
    known = {path.stem for path in SPECS.glob("*.yaml")}
    covered = {*dataset_names(), *NAMES}
    assert known <= covered, f"write tests/datasets/NAME for {sorted(known - covered)}"
