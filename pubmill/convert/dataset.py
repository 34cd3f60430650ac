"""Conversion of one dataset: its files are converted, counted and compared with the spec's expected counts.

`expect` has a citation in the spec; a dataset with other counts is not the published one, and not written.
"""

import importlib
import importlib.util
import re
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pubmill.convert.dataset_counts import OPEN, Counts, count, lengths, overlaps, unknown_names
from pubmill.convert.source_files import Converter, ConverterInput, SpecError, check_id
from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, SPLITS, Example, write_examples
from pubmill.messages.quotations import show, withholding
from pubmill.recipes.datasets import ConversionRecipe
from pubmill.storage.checksums import check_source
from pubmill.storage.files import kept_sha256, sealed, sha256, write_json, writing_folder

OWN_CONVERTER = "converter"
"""Role of the file with a converter of the user's own."""


def convert(recipe: ConversionRecipe, inputs: Mapping[str, Path], output: Path) -> dict[str, Any]:
    """Write train, dev and test.jsonl.gz and `card.json` into the folder `output`; return the card.

    `inputs` are the source files by role. A split that the dataset lacks becomes an empty file. Raises a
    `PubmillError`, and writes no examples, if a file is malformed or a count differs from `recipe.expect`.
    For a dataset that isn't public, no message contains its text and others cannot read its files.
    """
    for path in inputs.values():
        check_source(path)
    private = recipe.access != "public"
    splits: dict[str, Sequence[Example]] = {}
    left_out = defaultdict[str, Counter[str]](Counter)
    with withholding(private, own=recipe.access == "local"):
        for name in (split for split in SPLITS if split in recipe.splits):
            source = ConverterInput(name, inputs, recipe.options, left_out[name])
            splits[name] = _check_examples(recipe, source, _convert_split(recipe, source))
    counts = {
        name: {**count(examples), **{f"left_out.{reason}": n for reason, n in sorted(left_out[name].items())}}
        for name, examples in splits.items()
    }
    _check_counts(recipe, inputs, counts)
    with writing_folder(output) as folder:
        for name in SPLITS:
            # licensed to the owner, not to other users of this machine
            write_examples(folder / f"{name}.jsonl.gz", splits.get(name, ()), private)
        card = {  # without paths and times
            **{name: value for name, value in vars(recipe).items() if name != "splits"},
            "splits": list(splits),
            "counts": counts,
            "lengths": {name: lengths(examples) for name, examples in splits.items()},
            "overlaps": overlaps(splits),
            "sources": {
                role: {"file": path.name, "bytes": path.stat().st_size, "sha256": kept_sha256(path)}
                for role, path in inputs.items()
            },
            "examples_sha256": {name: sha256(folder / f"{name}.jsonl.gz") for name in splits},
        }
        write_json(folder / "card.json", sealed(card))
    return card


def _convert_split(recipe: ConversionRecipe, source: ConverterInput) -> list[Example]:
    """Return the examples; errors name the dataset and split.

    For a dataset that isn't public, an unforeseen error reports only its place, because its message may
    contain text. As either of two contradicting files may be wrong, an error in one also names the others.
    """
    where = f"dataset {recipe.dataset}, {source.split}"
    try:
        return list(find_converter(recipe.converter, source.inputs)(source))
    except SpecError as error:
        spec = f"(in specs/datasets/{recipe.dataset}.yaml, or the spec that it includes)"
        raise PubmillError(f"{where}: {error} {spec}") from None
    except PubmillError as error:
        beside = [path.name for path in _own_sources(source) if path.name not in str(error)]
        note = f"\nRead together with {', '.join(beside)}" if beside else ""
        raise PubmillError(f"{where}: {error}{note}") from None
    except Exception as error:
        if recipe.access == "public":
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise PubmillError(
            f"{where}: {type(error).__name__} at {Path(place.filename).name}:{place.lineno}; its "
            "message is withheld, as it may contain licensed text. Are these the "
            f"original files of {recipe.dataset}?"
        ) from None


def _check_examples(
    recipe: ConversionRecipe, source: ConverterInput, examples: list[Example]
) -> list[Example]:
    """Check that there are examples, that all are valid and of the kind, and that ids are unique. The ids of
    a dataset that isn't public must be identifiers, as messages and publications may have them."""
    where, files = f"dataset {recipe.dataset}, {source.split}", ", ".join(map(str, _own_sources(source)))
    if not examples:
        raise PubmillError(f"{where}: there are no examples in its files ({files})")
    seen: set[str] = set()
    for number, example in enumerate(examples, 1):
        check_id(example.id, f"{where}: example number {number}, read from {files}")
        fault = example.fault() if isinstance(example, KINDS[recipe.kind]) else f"not of kind {recipe.kind}"
        if example.id in seen:
            fault = "its id occurs twice"
        if fault:
            raise PubmillError(f"{where}: example {show(example.id)}: {fault}; it was read from {files}")
        seen.add(example.id)
    return examples


def _own_sources(source: ConverterInput) -> list[Path]:
    """Return the split's source files: those whose role belongs to no other split; if none are left, all."""
    others = tuple(f"{split}_" for split in SPLITS if split != source.split)
    own = [path for role, path in source.inputs.items() if not f"{role}_".startswith(others)]
    return list(dict.fromkeys(own or source.inputs.values()))


def find_converter(name: str, inputs: Mapping[str, Path]) -> Converter:
    """Return a converter of pubmill, or `MODULE:FUNCTION` of the user's own file, the source `converter`."""
    if name.startswith("pubmill."):
        return load_function(name, "converter")
    module, _, function = name.partition(":")
    path = inputs.get(OWN_CONVERTER)
    if path is None:
        raise SpecError(
            f"the converter {name!r} needs the source `{OWN_CONVERTER}`, a file {module}.py of your own"
        )
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec and spec.loader
    own = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(own)
        converter: Converter = getattr(own, function)
        return converter
    except AttributeError:
        raise SpecError(f"{path} has no function {function!r}") from None
    except Exception as error:
        raise PubmillError(f"{path} can't be imported: {type(error).__name__}: {error}") from error


def load_function(name: str, what: str) -> Callable[..., Any]:
    """Return the function named `pubmill.convert.MODULE:FUNCTION`; nothing else is ever imported."""
    if re.fullmatch(r"pubmill\.convert\.[a-z0-9_]+:[a-z_]+", name):
        module, function = name.split(":")
        try:
            loaded: Callable[..., Any] = getattr(importlib.import_module(module), function)
            return loaded
        except (ModuleNotFoundError, AttributeError):
            pass
    raise SpecError(f"there is no {what} {name!r}; it is named `pubmill.convert.MODULE:FUNCTION`")


def _check_counts(recipe: ConversionRecipe, inputs: Mapping[str, Path], counts: Mapping[str, Counts]) -> None:
    differences = unknown_names(recipe.expect, recipe.negative, counts)
    for split, measures in recipe.expect.items():
        for measure, expected in measures.items():
            if measure not in counts[split] and not measure.startswith(OPEN):
                raise PubmillError(
                    f"dataset {recipe.dataset}: expect.{split} names {measure!r}; "
                    f"what is counted is {', '.join(counts[split])}"
                )
            found = counts[split].get(measure, 0)
            if found is None:
                differences.append(f"{split} {measure}: expected {expected}, but none are marked")
            elif found != expected:
                differences.append(
                    f"{split} {measure}: expected {expected}, found {found}, difference {found - expected:+d}"
                )
    if differences:
        files = ", ".join(map(str, dict.fromkeys(inputs.values())))
        raise PubmillError(
            f"dataset {recipe.dataset} does not have the expected counts, so no examples were written:\n  "
            + "\n  ".join(differences)
            + f"\nCheck the source files ({files}) and the converter's options. A published "
            "count in conflict with the files is a decision for the dataset's spec, never for a tolerance."
        )
