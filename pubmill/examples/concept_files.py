"""Identifiers of the mentions of a dataset's examples, and the documents that its sentences are from.

They lie in a file of their own, `concepts/DATASET.jsonl.gz`, with a line for each example whose document is
known, because the files that models are trained on have neither.
"""

from collections.abc import Iterable, Mapping
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SPLITS
from pubmill.storage.files import read_jsonl_gz, write_jsonl_gz

Identifiers = Mapping[tuple[int, int], frozenset[str]]
"""First word and word after the last of a mention -> its identifiers."""


class ExampleConcepts(NamedTuple):
    """The document of an example, and the identifiers of its mentions."""

    document: str
    identifiers: Identifiers


Concepts = Mapping[str, Mapping[str, ExampleConcepts]]
"""Split -> id of an example -> its document and identifiers."""


def write_concepts(path: Path, concepts: Concepts, private: bool = False) -> None:
    """Write the file; equal concepts give equal bytes."""
    examples = ((split, *one) for split, of_split in concepts.items() for one in of_split.items())
    write_jsonl_gz(path, starmap(_row, examples), private)


def _row(split: str, name: str, one: ExampleConcepts) -> dict[str, object]:
    mentions = [[start, end, sorted(names)] for (start, end), names in sorted(one.identifiers.items())]
    return {"split": split, "id": name, "document": one.document, "mentions": mentions}


def read_concepts(path: Path) -> Concepts:
    """Read the file; a `PubmillError` names a malformed line."""
    concepts: dict[str, dict[str, ExampleConcepts]] = {split: {} for split in SPLITS}
    for number, row in enumerate(read_jsonl_gz(path), 1):
        try:
            identifiers = {(start, end): frozenset(names) for start, end, names in row["mentions"]}
            concepts[row["split"]][row["id"]] = ExampleConcepts(row["document"], identifiers)
        except (KeyError, TypeError, ValueError):
            raise PubmillError(
                f"{path}:{number}: expected split, id, document and mentions; remove the file and make "
                "it again"
            ) from None
    return concepts


def all_identifiers(examples: Iterable[ExampleConcepts]) -> frozenset[str]:
    """Return the identifiers of all mentions of examples."""
    return frozenset(name for one in examples for names in one.identifiers.values() for name in names)
