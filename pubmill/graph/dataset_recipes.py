"""Dataset recipes that also programs outside of the graph need."""

from typing import Any

from pubmill.recipes.datasets import ConversionRecipe, PublishedFile, PublishedRecipe
from pubmill.specs import DatasetSpec, Published


def conversion_recipe(name: str, spec: DatasetSpec) -> ConversionRecipe:
    """Return the ConversionRecipe of a dataset."""
    return ConversionRecipe(
        dataset=name,
        kind=spec.kind,
        access=spec.access,
        splits=spec.splits,
        converter=spec.converter,
        options=spec.options,
        expect={str(split): counts for split, counts in spec.expect.items()},
        metric=spec.metric,
        negative=spec.negative,
        version=spec.version,
    )


def published_recipe(name: str, spec: DatasetSpec) -> PublishedRecipe:
    """Return the PublishedRecipe of a dataset: the form that its spec declares, or the general one of its
    kind."""
    form = spec.published or general_form(spec)
    return PublishedRecipe(
        dataset=name,
        kind=spec.kind,
        access=spec.access,
        writer=form.writer,
        options=form.options,
        dummies=spec.dummies,
        files={str(split): file for split, file in form.files.items()},
    )


def general_form(spec: DatasetSpec) -> Published:
    """Return the general form of a kind: CoNLL columns for words, a table for texts with a label or a score,
    JSON lines for all others."""
    writer, options, suffix = "pubmill.convert.jsonl:write", dict[str, Any](), "jsonl"
    if spec.kind == "tokens":
        writer, options, suffix = "pubmill.convert.conll:write", {"documents": "docstart"}, "tsv"
    elif spec.kind in ("sequence", "regression"):
        given = ("id", "document", "text", "text_pair", *(["dummies"] if spec.dummies else []))
        columns = [*given, "label" if spec.kind == "sequence" else "score"]
        writer, options, suffix = "pubmill.convert.tsv:write", {"columns": columns, "header": columns}, "tsv"
    files = {split: PublishedFile(name=f"{split}.{suffix}") for split in spec.splits}
    return Published(writer=writer, options=options, files=files)
