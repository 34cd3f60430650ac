"""The forms in which others publish a dataset, written from its examples.

Where the published bytes are known, what is written must be these: that proves the conversion.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.annotation.argument_transforms import Transformed, dummies
from pubmill.annotation.examples import KINDS, SequenceExample, read_examples
from pubmill.convert.dataset import named
from pubmill.convert.source_files import for_split
from pubmill.errors import PubmillError
from pubmill.storage.files import make_private, writing
from pubmill.storage.privacy import PUBLIC, access_of, strictest, write_label_beside


@dataclass(frozen=True, kw_only=True)
class PublishedRecipe:
    """How a dataset's published form is written.

    `access` is that of the dataset. `files`: split -> `{"name", "sha256"}`, the hash null where the
    published bytes aren't known. `options` under the name of a split hold for that split alone.
    `dummies`: `{"types", "overlap"}` of a dataset with entity mentions, else null.
    """

    dataset: str
    kind: str
    access: str
    writer: str
    options: dict[str, Any]
    dummies: dict[str, Any] | None
    files: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Form:
    """What a writer is given beside the examples."""

    options: Mapping[str, Any]
    dummies: Mapping[str, Any] | None

    def with_dummies(self, example: SequenceExample) -> Transformed:
        """The example's text with a dummy for each mention."""
        if self.dummies is None:
            raise PubmillError("the dataset's spec has no `dummies`, which its published form needs")
        return dummies(example.text, example.entities, self.dummies["types"], self.dummies["overlap"])


Writer = Callable[[Sequence[Any], Form], Iterator[str]]
"""Gives the text of one split, piece by piece."""


def publish(recipe: PublishedRecipe, examples: Path, output: Path) -> dict[str, dict[str, Any]]:
    """Write one file for each split that has a published form into the folder `output`.

    Returns split -> `{"name", "sha256", "equal"}`; `equal` is None where the published bytes aren't
    known. Bytes that differ from the published ones are a `PubmillError`, and no file is written. Only its
    owner may read a file of a dataset that isn't public, by its spec or by the card of the examples; the
    label lies beside it.
    """
    writer = _writer(recipe)
    texts: dict[str, bytes] = {}
    told: dict[str, dict[str, Any]] = {}
    for split, file in recipe.files.items():
        rows = list(read_examples(examples / f"{split}.jsonl.gz", KINDS[recipe.kind]))
        texts[split] = _written(recipe, split, writer, rows)
        found = hashlib.sha256(texts[split]).hexdigest()
        told[split] = {"name": file["name"], "sha256": found, "equal": _equal(found, file["sha256"])}
    _refuse(recipe, told)
    access = strictest([recipe.access, access_of(examples)])
    for split, text in texts.items():
        write_label_beside(output / told[split]["name"])
        with writing(output / told[split]["name"]) as temporary:
            if access != PUBLIC:
                make_private(temporary)
            temporary.write_bytes(text)
    return told


def _writer(recipe: PublishedRecipe) -> Writer:
    try:
        return named(recipe.writer, "writer")
    except PubmillError as error:
        raise PubmillError(f"specs/datasets/{recipe.dataset}.yaml: {error}") from None


def _written(recipe: PublishedRecipe, split: str, writer: Writer, rows: Sequence[Any]) -> bytes:
    try:
        form = Form(for_split(recipe.options, split), recipe.dummies)
        return "".join(writer(rows, form)).encode()
    except PubmillError as error:
        spec = f"specs/datasets/{recipe.dataset}.yaml"
        raise PubmillError(f"dataset {recipe.dataset}, {split}: {error} (`published` in {spec})") from None


def _equal(found: str, expected: str | None) -> bool | None:
    return None if expected is None else found == expected


def _refuse(recipe: PublishedRecipe, told: Mapping[str, Mapping[str, Any]]) -> None:
    wrong = [
        f"{split} ({one['name']}): expected sha256 {recipe.files[split]['sha256']}, found {one['sha256']}"
        for split, one in told.items()
        if one["equal"] is False
    ]
    if wrong:
        raise PubmillError(
            f"dataset {recipe.dataset}: what is written is not the published file, so nothing was:\n  "
            + "\n  ".join(wrong)
            + "\nConvert the dataset again from its original files, or correct the hash in its spec."
        )
