"""Published forms of a dataset, written from its examples.

If the published bytes are known, the written ones must equal them, which proves the conversion.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from pubmill.convert.dataset import load_function
from pubmill.convert.source_files import for_split
from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import Transformed, dummies
from pubmill.examples.kinds import KINDS, SequenceExample, as_row, read_examples
from pubmill.recipes.datasets import PublishedRecipe
from pubmill.recipes.finetuning import Dummies
from pubmill.storage.files import make_private, writing
from pubmill.storage.privacy import PUBLIC, access_of, strictest, write_label_beside


@dataclass(frozen=True)
class WriterOptions:
    """The options and dummies of a writer."""

    options: Mapping[str, Any]
    dummies: Dummies | None

    def refuse_all(self) -> None:
        """Raise a `PubmillError` if there are options, for a form without any."""
        if self.options:
            raise PubmillError(f"published.options is {dict(self.options)}; this form has no options")

    def with_dummies(self, example: SequenceExample) -> Transformed:
        """Return the example's text with a dummy for each mention."""
        if self.dummies is None:
            raise PubmillError("the dataset's spec has no `dummies`, which its published form needs")
        return dummies(example.text, example.entities, self.dummies.types, self.dummies.overlap)


Writer = Callable[[Sequence[Any], WriterOptions], Iterator[str]]
"""Yields the text of one split, piece by piece."""


class WrittenSplit(TypedDict):
    """A file that was written. `equal`: whether it has the published bytes; None if these are not known."""

    name: str
    sha256: str
    equal: bool | None


def publish(recipe: PublishedRecipe, examples: Path, output: Path) -> dict[str, WrittenSplit]:
    """Write one file for each split that has a published form into the folder `output`.

    Returns the files by split. If bytes differ from the published ones, it raises a `PubmillError` and writes
    no file. If the spec or the card of the examples states that the dataset isn't public, only the owner may
    read the files, and a label is written beside them.
    """
    try:
        writer: Writer = load_function(recipe.writer, "writer")
    except PubmillError as error:
        raise PubmillError(f"specs/datasets/{recipe.dataset}.yaml: {error}") from None
    texts: dict[str, bytes] = {}
    results: dict[str, WrittenSplit] = {}
    for split, file in recipe.files.items():
        rows = list(read_examples(examples / f"{split}.jsonl.gz", KINDS[recipe.kind]))
        try:
            form = WriterOptions(for_split(recipe.options, split), recipe.dummies)
            texts[split] = "".join(writer(rows, form)).encode()
        except PubmillError as error:
            spec = f"`published` in specs/datasets/{recipe.dataset}.yaml"
            raise PubmillError(f"dataset {recipe.dataset}, {split}: {error} ({spec})") from None
        digest = hashlib.sha256(texts[split]).hexdigest()
        equal = None if file.sha256 is None else digest == file.sha256
        results[split] = {"name": file.name, "sha256": digest, "equal": equal}
    wrong = [
        f"{split} ({one['name']}): expected sha256 {recipe.files[split].sha256}, found {one['sha256']}"
        for split, one in results.items()
        if one["equal"] is False
    ]
    if wrong:
        raise PubmillError(
            f"dataset {recipe.dataset}: the output differs from the published file; nothing was written:\n  "
            + "\n  ".join(wrong)
            + "\nConvert the dataset again from its original files, or correct the hash in its spec."
        )
    access = strictest([recipe.access, access_of(examples)])
    for split, text in texts.items():
        write_label_beside(output / results[split]["name"])
        with writing(output / results[split]["name"]) as temporary:
            if access != PUBLIC:
                make_private(temporary)
            temporary.write_bytes(text)
    return results


def write_rows(examples: Sequence[Any], form: WriterOptions) -> Iterator[str]:
    """Yield a JSON line per example of any kind, with the keys of `pubmill.examples.kinds`; no options."""
    form.refuse_all()
    for example in examples:
        yield json.dumps(as_row(example), ensure_ascii=False, sort_keys=True) + "\n"
