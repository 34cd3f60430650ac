"""One dataset: its files converted, counted and checked against the counts its spec expects.

`expect` comes with a citation in the spec; a dataset that doesn't have these counts is another
dataset than the published one, so nothing is written then.
"""

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples import TokensExample, write_examples
from pubmill.files import sha256, write_json, writing_folder

SPLITS = ("train", "dev", "test")
Converter = Callable[[Path, str, Mapping[str, Any]], Iterator[TokensExample]]
Counts = dict[str, int | None]


@dataclass(frozen=True, kw_only=True)
class ConversionRecipe:
    """All that decides a dataset's examples; `expect` is split -> measure -> count."""

    dataset: str
    kind: str
    converter: str
    options: dict[str, Any]
    duplicates: str
    expect: dict[str, dict[str, int]]
    metric: str
    version: int


def convert(recipe: ConversionRecipe, inputs: Mapping[str, Path], output: Path) -> dict[str, Any]:
    """Write `SPLIT.jsonl.gz` for each input and `card.json` into the folder `output`; return the card.

    Raises a `PubmillError`, and leaves no examples, where a file is malformed or a count differs
    from what `recipe.expect` says.
    """
    _check(recipe, inputs)
    read = _converter(recipe.converter)
    splits = {name: list(read(inputs[name], name, recipe.options)) for name in SPLITS if name in inputs}
    counts = {name: count(examples) for name, examples in splits.items()}
    _compare(recipe.dataset, recipe.expect, counts)
    with writing_folder(output) as folder:
        for name, examples in splits.items():
            write_examples(folder / f"{name}.jsonl.gz", examples)
        card = _card(recipe, inputs, splits, counts)
        card["examples_sha256"] = {name: sha256(folder / f"{name}.jsonl.gz") for name in splits}
        write_json(folder / "card.json", card)
    return card


def count(examples: Sequence[TokensExample]) -> Counts:
    """Count one split.

    `mentions` are the B labels: BLURB's counts (gu2020 Table 3) are these, not runs of non-O
    words. `illegal_starts` are I labels with no B or I of their type before them. `documents` are
    counted as marked, None where they aren't; `repeated_documents` are those whose identifier stood
    before, `repeated_sentences` those whose words did.
    """
    words = Counter(word for example in examples for word in example.words)
    labels = Counter(label[0] for example in examples for label in example.labels)
    documents = [name for name, _ in groupby(example.document for example in examples) if name is not None]
    distinct_sentences = {tuple(example.words) for example in examples}
    return {
        "sentences": len(examples),
        "documents": len(documents) or None,
        "tokens": words.total(),
        "mentions": labels["B"],
        "tokens_in_mentions": labels["B"] + labels["I"],
        "distinct_words": len(words),
        "longest_sentence": max((len(example.words) for example in examples), default=0),
        "illegal_starts": sum(_illegal_starts(example.labels) for example in examples),
        "repeated_documents": len(documents) - len(set(documents)),
        "repeated_sentences": len(examples) - len(distinct_sentences),
    }


def _illegal_starts(labels: list[str]) -> int:
    return sum(
        label[0] == "I" and (last == "O" or last[1:] != label[1:]) for last, label in pairwise(["O", *labels])
    )


def _check(recipe: ConversionRecipe, inputs: Mapping[str, Path]) -> None:
    where = f"dataset {recipe.dataset}"
    if recipe.kind != "tokens" or recipe.duplicates != "keep":
        raise PubmillError(
            f"{where}: kind is {recipe.kind!r} and duplicates {recipe.duplicates!r}; "
            "there is only kind `tokens` with duplicates `keep`"
        )
    if not inputs or not inputs.keys() <= set(SPLITS) or not recipe.expect.keys() <= inputs.keys():
        raise PubmillError(
            f"{where}: input files for {sorted(inputs)}, expected counts for {sorted(recipe.expect)}; "
            f"inputs must be among {list(SPLITS)}, and expected counts only for splits with an input"
        )


def _converter(name: str) -> Converter:
    """The function named `pubmill.convert.MODULE:FUNCTION`; nothing else is ever imported."""
    if re.fullmatch(r"pubmill\.convert\.[a-z0-9_]+:[a-z_]+", name):
        module, function = name.split(":")
        try:
            converter: Converter = getattr(importlib.import_module(module), function)
            return converter
        except (ModuleNotFoundError, AttributeError):
            pass
    raise PubmillError(f"there is no converter {name!r}; it is named `pubmill.convert.MODULE:FUNCTION`")


def _compare(dataset: str, expect: Mapping[str, Mapping[str, int]], counts: Mapping[str, Counts]) -> None:
    differences = []
    for split, measures in expect.items():
        for measure, expected in measures.items():
            if measure not in counts[split]:
                raise PubmillError(
                    f"dataset {dataset}: expect.{split} names {measure!r}; "
                    f"what is counted is {', '.join(counts[split])}"
                )
            found = counts[split][measure]
            if found is None:
                differences.append(f"{split} {measure}: expected {expected}, but none are marked")
            elif found != expected:
                differences.append(
                    f"{split} {measure}: expected {expected}, found {found}, difference {found - expected:+d}"
                )
    if differences:
        raise PubmillError(
            f"dataset {dataset} does not have the expected counts, so no examples were written:\n  "
            + "\n  ".join(differences)
            + "\nCheck the source files and the converter's options. A published count in conflict "
            "with the files is a decision for the dataset's spec, never for a tolerance."
        )


def _card(
    recipe: ConversionRecipe,
    inputs: Mapping[str, Path],
    splits: Mapping[str, Sequence[TokensExample]],
    counts: Mapping[str, Counts],
) -> dict[str, Any]:
    """The card: what was asked, what was found, from which bytes; paths and times stay out."""
    return {
        "dataset": recipe.dataset,
        "kind": recipe.kind,
        "converter": recipe.converter,
        "options": recipe.options,
        "duplicates": recipe.duplicates,
        "metric": recipe.metric,
        "version": recipe.version,
        "expect": recipe.expect,
        "counts": counts,
        "also_in_train": {
            name: _overlap(splits["train"], examples)
            for name, examples in splits.items()
            if name != "train" and "train" in splits
        },
        "sources": {
            name: {"file": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)}
            for name, path in inputs.items()
        },
    }


def _overlap(train: Sequence[TokensExample], other: Sequence[TokensExample]) -> Counts:
    """Sentences of `other` whose words `train` has too; documents in both, None where unmarked."""
    sentences = {tuple(example.words) for example in train}
    documents = [{example.document for example in split} - {None} for split in (train, other)]
    return {
        "sentences": sum(tuple(example.words) in sentences for example in other),
        "documents": len(documents[0] & documents[1]) if all(documents) else None,
    }
