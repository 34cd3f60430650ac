"""Dataset recipes that also programs outside of the graph need."""

from typing import Any

from pubmill.specs import DatasetSpec, Published
from pubmill.specs.datasets import PublishedFile


def conversion_recipe(name: str, spec: DatasetSpec) -> dict[str, Any]:
    """ConversionRecipe of a dataset."""
    return {
        "dataset": name,
        "kind": spec.kind,
        "access": spec.access,
        "splits": list(spec.splits),
        "converter": spec.converter,
        "options": spec.options,
        "duplicates": spec.duplicates,
        "expect": spec.expect,
        "metric": spec.metric,
        "negative": spec.negative,
        "version": spec.version,
    }


def published_recipe(name: str, spec: DatasetSpec) -> dict[str, Any]:
    """PublishedRecipe of a dataset: the form that its spec declares, or else the general one of its kind."""
    form = spec.published or general_form(spec)
    return {
        "dataset": name,
        "kind": spec.kind,
        "access": spec.access,
        "writer": form.writer,
        "options": form.options,
        "dummies": spec.dummies.model_dump() if spec.dummies else None,
        "files": {split: file.model_dump() for split, file in form.files.items()},
    }


def general_form(spec: DatasetSpec) -> Published:
    """CoNLL columns for words, a table for texts with a label or a score, JSON lines for all else."""
    writer, options, suffix = "pubmill.convert.jsonl:write", dict[str, Any](), "jsonl"
    if spec.kind == "tokens":
        writer, options, suffix = "pubmill.convert.conll:write", {"documents": "docstart"}, "tsv"
    elif spec.kind in ("sequence", "regression"):
        given = ("id", "document", "text", "text_pair", *(["dummies"] if spec.dummies else []))
        columns = [*given, "label" if spec.kind == "sequence" else "score"]
        writer, options, suffix = "pubmill.convert.tsv:write", {"columns": columns, "header": columns}, "tsv"
    files = {split: PublishedFile(name=f"{split}.{suffix}") for split in spec.splits}
    return Published(writer=writer, options=options, files=files)
