"""Dataset recipes that programs outside the graph also need."""

from collections.abc import Mapping

import yaml

from pubmill.errors import PubmillError
from pubmill.recipes.datasets import ConversionRecipe, PublishedFile, PublishedRecipe
from pubmill.recipes.tables import project
from pubmill.specs.dataset_specs import DatasetSpec, Published


def conversion_recipe(name: str, spec: DatasetSpec) -> ConversionRecipe:
    """Return the ConversionRecipe of a dataset."""
    expect = {str(split): counts for split, counts in spec.expect.items()}
    return project(ConversionRecipe, spec, dataset=name, expect=expect)


GENERAL: dict[str, tuple[str, dict[str, str | list[str]], str]] = {
    "conll": ("pubmill.convert.conll:write", {"documents": "docstart"}, "conll"),
    "jsonl": ("pubmill.convert.exports:write_rows", {}, "jsonl"),
    "hugging-face": ("pubmill.convert.exports:write_rows", {}, "jsonl"),
}
"""General form -> its writer, the writer's options, and the ending of its files."""
BLURB = "blurb"
"""The suite, and the form in which it publishes its datasets."""


def published_recipe(name: str, spec: DatasetSpec, form: str | None = None) -> PublishedRecipe:
    """Return the PublishedRecipe of a dataset: the given form of `GENERAL`, or BLURB's, or else the form that
    its spec declares, or else the general one of its kind."""
    if form == BLURB and (BLURB not in spec.suites or spec.published is None):
        known = "is in BLURB, which publishes no form of it" if BLURB in spec.suites else "is not in BLURB"
        raise PubmillError(f"{spec.name} {known}; export it in another form, such as jsonl")
    if form == "conll" and spec.kind != "tokens":
        raise PubmillError(f"{spec.name} has no labelled words ({spec.kind}); export it as jsonl")
    files = spec.published if form in (None, BLURB) and spec.published else general_form(spec, form)
    named_files = {str(split): file for split, file in files.files.items()}
    options = files.options
    return project(
        PublishedRecipe, spec, dataset=name, writer=files.writer, options=options, files=named_files
    )


def dataset_card(name: str, spec: DatasetSpec, files: Mapping[str, str], made_up: bool) -> str:
    """Return a dataset's README.md for the Hugging Face hub, with metadata that name each split's file."""
    names = {"train": "train", "dev": "validation", "test": "test"}
    listed = [{"split": names[split], "path": path} for split, path in files.items()]
    card = {"pretty_name": spec.label or name, "configs": [{"config_name": "default", "data_files": listed}]}
    head = yaml.safe_dump(card, sort_keys=False, allow_unicode=True)
    source = "Made-up data of a demonstration, not the published dataset." if made_up else ""
    said = [f"# {spec.label or name}", source, f"Licence: {spec.licence}", f"Access: {spec.access}"]
    return f"---\n{head}---\n\n" + "\n\n".join(filter(None, said)) + "\n"


def general_form(spec: DatasetSpec, form: str | None = None) -> Published:
    """Return a general form of a dataset; without a name that of its kind: CoNLL columns for words, a table
    for texts with a label or a score, JSON lines for all others."""
    writer, options, suffix = GENERAL[form or "jsonl"]
    if form is None and spec.kind == "tokens":
        writer, options, suffix = "pubmill.convert.conll:write", {"documents": "docstart"}, "tsv"
    elif form is None and spec.kind in ("sequence", "regression"):
        given = ("id", "document", "text", "text_pair", *(["dummies"] if spec.dummies else []))
        columns = [*given, "label" if spec.kind == "sequence" else "score"]
        writer, options, suffix = "pubmill.convert.tsv:write", {"columns": columns, "header": columns}, "tsv"
    files = {split: PublishedFile(name=f"{split}.{suffix}") for split in spec.splits}
    return Published(writer=writer, options=options, files=files)
