"""Converted datasets."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, SPLITS, Example, read_examples
from pubmill.messages.wording import SHOWN, nearest
from pubmill.storage.files import read_json
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import CARD, Paths

if TYPE_CHECKING:
    from datasets import Dataset


class Split:
    """A split of a converted dataset: iterating over it reads its examples from the file, one at a time."""

    def __init__(self, path: Path, kind: type[Example]) -> None:
        self.path = path
        self.kind = kind

    def __iter__(self) -> Iterator[Example]:
        return read_examples(self.path, self.kind)

    def to_hugging_face(self) -> "Dataset":
        """Return the split as a Hugging Face `Dataset`; needs the package `datasets`."""
        try:
            from datasets import Dataset
        except ImportError:
            raise PubmillError("to_hugging_face needs the package `datasets`; install it") from None
        rows: list[dict[str, Any]] = [asdict(example) for example in self]
        return Dataset.from_list(rows)


def load_dataset(name: str, results: str | Path = "results/full") -> dict[str, Split]:
    """Return the splits of a converted dataset, by name.

    `name`: of its spec, for example `chemprot@blurb`; `results`: the results folder of a scale. Files made
    from licensed data stay private: whatever this process writes is readable by its owner only. Raises
    `PubmillError` if the dataset was not converted there.
    """
    folder = converted_folder(name, results)
    keep_private([folder])
    card = folder / CARD
    found = read_json(card)
    kind = KINDS.get(str(found.get("kind"))) if isinstance(found, dict) else None
    if kind is None:
        raise PubmillError(f"{card}: its `kind` is none of {', '.join(KINDS)}; convert the dataset again")
    files = {split: folder / f"{split}.jsonl.gz" for split in SPLITS}
    return {split: Split(path, kind) for split, path in files.items() if path.is_file()}


def converted_folder(name: str, results: str | Path) -> Path:
    """Return the folder of a converted dataset; a `PubmillError` names those that were converted."""
    folder = Path(Paths(results).dataset(name))
    if not (folder / CARD).is_file():
        names = nearest(name, (card.parent.name for card in folder.parent.glob(f"*/{CARD}")))
        converted = ", ".join(names[:SHOWN]) or "none"
        raise PubmillError(
            f"{folder} has no {CARD}: the dataset was not converted there. Make it in the checkout, with "
            f"pubmill run STUDY {folder / CARD}. Converted there, the nearest first: {converted}"
        )
    return folder
