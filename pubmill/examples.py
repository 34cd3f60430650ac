"""The few kinds of examples that datasets consist of, and their files. Standard library only.

One split is one file of gzipped JSON lines, `datasets/DATASET/{train,dev,test}.jsonl.gz`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.files import read_jsonl_gz, write_jsonl_gz

BIO_LABEL = re.compile(r"O|[BI](-\S+)?")
"""A BIO (IOB2) label: `O`, or `B` or `I`, alone or with a type (`B-Disease`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensExample:
    """One sentence with one BIO label a word.

    `id` is unique in its split; `document` is the source's own document identifier, None where
    the source doesn't mark documents.
    """

    id: str
    document: str | None
    words: list[str]
    labels: list[str]


def write_examples(path: Path, examples: Iterable[TokensExample]) -> None:
    """Write one split; equal examples give equal bytes."""
    write_jsonl_gz(path, map(asdict, examples))


def read_examples(path: Path) -> Iterator[TokensExample]:
    """Read one split in its order; a `PubmillError` names the file and line of what is wrong."""
    seen: set[str] = set()
    for number, row in enumerate(read_jsonl_gz(path), 1):
        fault = _fault(row, seen)
        if fault:
            raise PubmillError(f"{path}:{number}: {fault}; convert the dataset again")
        seen.add(row["id"])
        yield TokensExample(**row)


def _fault(row: Any, seen: set[str]) -> str | None:
    """What keeps a parsed line from being a tokens example, if anything."""
    if not isinstance(row, dict) or row.keys() != {"id", "document", "words", "labels"}:
        return "not an example of kind `tokens` with exactly the keys id, document, words, labels"
    if not isinstance(row["id"], str) or row["id"] in seen:
        return f"the id {row['id']!r} is not a text or stands here for the second time"
    if not isinstance(row["document"], str | None):
        return f"example {row['id']}: document is {row['document']!r}, neither text nor null"
    words = row["words"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return f"example {row['id']}: words must be a list of texts"
    if not is_label_list(row["labels"]):
        return f"example {row['id']}: labels must be a list of BIO labels"
    if not row["words"] or len(row["words"]) != len(row["labels"]):
        return f"example {row['id']}: {len(row['words'])} words but {len(row['labels'])} labels"
    return None


def is_label_list(value: Any) -> bool:
    """Whether a parsed JSON value is a list of BIO labels."""
    return isinstance(value, list) and all(
        isinstance(label, str) and BIO_LABEL.fullmatch(label) for label in value
    )
