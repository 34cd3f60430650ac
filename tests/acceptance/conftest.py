"""Datasets from their real files, each converted once."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.dataset import convert
from pubmill.examples.kinds import Kind, read_examples
from pubmill.storage.files import sha256
from tests.dataset_specs import conversion_of, inputs_of, spec_of
from tests.making import made_once

HERE = Path(__file__).parent
Converted = Callable[[str], Path]


def mostly_weekly(names: Iterable[str], *others: str) -> list[Any]:
    """Return the names as parameters of a test, all but `others` as weekly ones."""
    return [pytest.param(name, marks=() if name in others else pytest.mark.weekly) for name in names]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder as long: they read gigabytes that few machines have."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.long)


def examples_of(folder: Path, split: str, kind: type[Kind]) -> Sequence[Kind]:
    """Return the examples of a split; several tests read the same, so the last ones stay in memory."""
    return _examples(folder / f"{split}.jsonl.gz", kind)  # type: ignore[arg-type]


@lru_cache(maxsize=12)
def _examples(path: Path, kind: Any) -> Sequence[Any]:
    return tuple(read_examples(path, kind))


@pytest.fixture(scope="session")
def converted(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Converted:
    """Function that returns the folder of a dataset's examples, after its sources were found as pinned."""

    def folder_of(name: str) -> Path:
        def make(folder: Path) -> None:
            inputs = inputs_of(name, shared / "mirror")
            pinned = {role: source.sha256 for role, source in spec_of(name).sources.items() if source.sha256}
            assert {role: sha256(inputs[role]) for role in pinned} == pinned
            convert(conversion_of(name), inputs, folder / name)

        return made_once(tmp_path_factory, f"converted-{name}", make) / name

    return folder_of
