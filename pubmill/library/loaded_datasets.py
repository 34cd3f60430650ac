"""Converted datasets."""

import gzip
from collections.abc import Iterator
from dataclasses import asdict, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, SPLITS, Example, read_examples
from pubmill.messages.wording import SHOWN, nearest
from pubmill.storage.files import read_json
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import CARD, Paths

if TYPE_CHECKING:
    from datasets import Dataset
    from pandas import DataFrame


class Split:
    """A split of a converted dataset.

    Iteration reads the examples from the file, one at a time; all other access reads them once and keeps them
    in memory. `split[0]` is an example, `split[:9]` a list of them, `split["label"]` a list of that field of
    all.
    """

    def __init__(self, path: Path, kind: type[Example]) -> None:
        self.path = path
        self.kind = kind

    def __iter__(self) -> Iterator[Example]:
        return read_examples(self.path, self.kind)

    def __len__(self) -> int:
        return self._length

    @cached_property
    def _length(self) -> int:
        with gzip.open(self.path) as lines:  # list() asks for the length first, so no line is parsed
            return sum(1 for _ in lines)

    @overload
    def __getitem__(self, key: int) -> Example: ...
    @overload
    def __getitem__(self, key: slice) -> list[Example]: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    def __getitem__(self, key: int | slice | str) -> Any:
        if isinstance(key, int | slice):
            return self._examples[key]
        if key not in self.column_names:
            raise PubmillError(f"no field {key!r}; examples have {', '.join(self.column_names)}")
        return [getattr(example, key) for example in self._examples]

    @property
    def column_names(self) -> list[str]:
        """Names of the examples' fields."""
        return [field.name for field in fields(self.kind)]

    @cached_property
    def _examples(self) -> list[Example]:
        return list(self)

    def to_pandas(self) -> "DataFrame":
        """Return the split as a data frame, one row for each example."""
        from pandas import DataFrame

        return DataFrame([asdict(example) for example in self._examples], columns=self.column_names)

    def to_hugging_face(self) -> "Dataset":
        """Return the split as a Hugging Face `Dataset`; needs the package `datasets`."""
        try:
            from datasets import Dataset
        except ImportError:
            raise PubmillError("to_hugging_face needs the package `datasets`; install it") from None
        from pubmill.examples.arrow_tables import to_table

        return Dataset(to_table(self._examples, self.kind))


@overload
def load_dataset(name: str, results: str | Path = ..., *, split: str) -> Split: ...
@overload
def load_dataset(name: str, results: str | Path = ..., *, split: None = ...) -> dict[str, Split]: ...
def load_dataset(
    name: str, results: str | Path = "results/full", *, split: str | None = None
) -> dict[str, Split] | Split:
    """Return the splits of a converted dataset, by name, or one of them.

    `name`: of its spec, for example `chemprot@blurb`; `results`: the results folder of a scale; `split`:
    train, dev (or validation) or test. Files made from licensed data stay private: whatever this process
    writes is readable by its owner only. Raises `PubmillError` if the dataset was not converted there, or
    lacks the split.
    """
    folder = converted_folder(name, results)
    keep_private([folder])
    card = folder / CARD
    content = read_json(card)
    kind = KINDS.get(str(content.get("kind"))) if isinstance(content, dict) else None
    if kind is None:
        raise PubmillError(f"{card}: its `kind` is none of {', '.join(KINDS)}; convert the dataset again")
    files = {one: folder / f"{one}.jsonl.gz" for one in SPLITS}
    splits: dict[str, Split] = {one: Split(path, kind) for one, path in files.items() if path.is_file()}
    if split is None:
        return splits
    own = "dev" if split == "validation" else split  # "validation": its name elsewhere
    if own not in splits:
        raise PubmillError(f"{name} has no split {split!r}; it has {', '.join(splits)}")
    return splits[own]


def converted_folder(name: str, results: str | Path) -> Path:
    """Return the folder of a converted dataset; a `PubmillError` names those that were converted."""
    folder = Path(Paths(results).dataset(name))
    if not (folder / CARD).is_file():
        names = nearest(name, (card.parent.name for card in folder.parent.glob(f"*/{CARD}")))
        converted = ", ".join(names[:SHOWN]) or "none"
        raise PubmillError(
            f"{folder} has no {CARD}: the dataset was not converted there. Make it in a checkout or "
            f"workspace, with pubmill run STUDY {folder / CARD}. Converted there, nearest first: {converted}"
        )
    return folder
