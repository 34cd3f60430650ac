"""Reading of CoNLL text through a temporary file, for tests."""

from collections import Counter
from pathlib import Path
from typing import Any

from pubmill.convert.conll import read
from pubmill.convert.source_files import ConverterInput
from pubmill.examples.kinds import TokensExample

FIRST = {"labels": "first_character"}
TYPED = {"labels": "as_written"}


def convert(path: Path, text: str, options: dict[str, Any] = FIRST) -> list[TokensExample]:
    path.write_bytes(text.encode())
    return list(read(ConverterInput("dev", {"dev": path}, options, Counter())))


def labels_of(path: Path, labels: str, options: dict[str, Any]) -> list[str]:
    """Return the labels of a sentence of a file; both are strings of labels separated by spaces."""
    (example,) = convert(path, "".join(f"w\t{label}\n" for label in labels.split()), options)
    return example.labels
