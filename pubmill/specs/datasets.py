"""Specs of datasets: where files come from, who may have them, how they are read, what must be found."""

import ast
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from pubmill.metrics import METRICS, dev_scores
from pubmill.specs.base import FileName, Https, LocalKey, Sha256, Spec, Strict

Split = Literal["train", "dev", "test"]
Role = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
WITHOUT_NEGATIVE = ("micro_f1", "positive_f1")
"""Metrics of sequences that a negative label is left out of."""

TASKS = {
    "tokens": ("ner", "de-identification", "pico"),
    "sequence": ("relation", "classification", "yes-no", "inference"),
    "multilabel": ("classification",),
    "regression": ("similarity",),
    "span": ("factoid", "reading"),
}
"""Kind of examples -> the tasks that have such examples."""


@cache
def _functions(module: str) -> frozenset[str]:
    """Names of the functions of a module of pubmill.convert, from its syntax tree: every start of Snakemake
    loads the specs, and to import the converters takes more than a second."""
    path = Path(__file__).resolve().parents[1] / "convert" / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def _exists(name: str) -> str:
    module, _, function = name.removeprefix("pubmill.convert.").partition(":")
    if function not in _functions(module):
        raise ValueError(f"there is no function {function} in pubmill/convert/{module}.py")
    return name


def _without_nulls(expect: Any) -> Any:
    """Counts without those that are null: what an included spec expects, and this one doesn't."""
    if not isinstance(expect, dict):
        return expect
    return {
        split: {measure: n for measure, n in counts.items() if n is not None}
        if isinstance(counts, dict)
        else counts
        for split, counts in expect.items()
    }


Function = Annotated[str, Field(pattern=r"^pubmill\.convert\.[a-z0-9_]+:[a-z_]+$"), AfterValidator(_exists)]


class File(Strict):
    """A file of the network; exactly one of `sha256`, `git_blob` (the id that git gives its content)
    and `unchecked` (the reason why its bytes can't be known beforehand)."""

    url: Https
    sha256: Sha256 | None = None
    git_blob: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    unchecked: str | None = None

    @model_validator(mode="after")
    def is_checked_in_one_way(self) -> Self:
        if sum(value is not None for value in (self.sha256, self.git_blob, self.unchecked)) != 1:
            raise ValueError("give exactly one of sha256, git_blob and unchecked (with the reason)")
        return self


class LocalFile(Strict):
    """A file of the user's own: `file` in the folder that the configuration's `local_files.KEY` names."""

    local: LocalKey
    file: FileName
    sha256: Sha256 | None = None


def _where(source: Any) -> str:
    own = isinstance(source, LocalFile) or (isinstance(source, dict) and "local" in source)
    return "own file" if own else "file of the network"


# Tags that are no keys: a tag stands in the location of a mistake, where keys are looked up for their lines.
Source = Annotated[
    Annotated[File, Tag("file of the network")] | Annotated[LocalFile, Tag("own file")], Discriminator(_where)
]


class Dummies(Strict):
    """What stands for a mention of each entity type, and for two mentions that overlap.

    `overlap` is the same for all of them, or has two `{}` for the words of the two types' dummies, in the
    order of the entities: `@{}-{}$` is `@GENE-DRUG$` for a `@GENE$` and a `@DRUG$`.
    """

    types: dict[str, str]
    overlap: Annotated[str, Field(pattern=r"^[^{}]*(\{\}[^{}]*\{\}[^{}]*)?$")]


class PublishedFile(Strict):
    name: FileName
    sha256: Sha256 | None = None


class Published(Strict):
    """The form in which others publish the dataset, and its bytes where they are known."""

    writer: Function
    options: dict[str, Any] = {}
    files: dict[Split, PublishedFile]


class DatasetSpec(Spec):
    """`conflicts`: published counts or forms that contradict this one; `suites`: benchmarks it is part
    of; `negative`: the label that says that there is nothing, which micro F1 leaves out (null: there is
    none); `pmids`: the examples' `document` is a PMID (null: it is another identifier, or there is none);
    a count of `expect` that is null takes back that of the spec that is included; `duplicates`: repetitions
    are kept and measured, in every dataset, so that no spec says it."""

    kind: Literal["tokens", "sequence", "multilabel", "regression", "span"]
    task: Literal[
        "ner", "de-identification", "pico", "relation", "similarity", "classification", "yes-no", "factoid",
        "reading", "inference",
    ]  # fmt: skip
    domain: Literal["biomedical", "clinical", "general"]
    suites: tuple[str, ...] = ()
    sources: dict[Role, Source]
    splits: tuple[Split, ...] = ("train", "dev", "test")
    access: Literal["public", "registration", "credentialed"]
    apply: Https | None = None
    licence: str
    converter: Function
    options: dict[str, Any] = {}
    dummies: Dummies | None = None
    duplicates: Literal["keep"] = "keep"
    pmids: Literal[True] | None = None
    expect: Annotated[dict[Split, dict[str, int]], BeforeValidator(_without_nulls)]
    conflicts: tuple[str, ...] = ()
    published: Published | None = None
    metric: str
    negative: str | None = None
    version: int

    @field_validator("task")
    @classmethod
    def fits_the_kind(cls, value: str, info: ValidationInfo) -> str:
        kind = info.data.get("kind")
        known = TASKS.get(kind or "", (value,))
        if value not in known:
            raise ValueError(f"task of kind {kind} is one of {', '.join(known)}")
        return value

    @field_validator("metric")
    @classmethod
    def can_choose_weights(cls, value: str, info: ValidationInfo) -> str:
        """That the trainer can choose by it: a metric of the kind and the task that has a dev score."""
        kind, task = info.data.get("kind"), info.data.get("task")
        known = dev_scores(kind, task) if kind and task else [value]
        if value not in known:
            shown = value in METRICS and METRICS[value].fits(kind or "", task or "")
            hint = f"; {value} chooses no weights, name it as a table's `metric`" if shown else ""
            raise ValueError(f"metric of {task} ({kind}) is one of {', '.join(known)}{hint}")
        return value

    @field_validator("expect", "published")
    @classmethod
    def is_of_its_splits(cls, value: Any, info: ValidationInfo) -> Any:
        splits = info.data.get("splits", ())
        named = value.files if isinstance(value, Published) else value or ()
        strangers = sorted(set(named) - set(splits))
        if splits and strangers:
            raise ValueError(
                f"names {', '.join(strangers)}, but the dataset's splits are {', '.join(splits)}"
            )
        return value

    @field_validator("negative")
    @classmethod
    def is_left_out_by_micro_f1(cls, value: str | None, info: ValidationInfo) -> str | None:
        kind, metric = info.data.get("kind"), info.data.get("metric")
        if value is not None and kind and metric and (kind != "sequence" or metric not in WITHOUT_NEGATIVE):
            raise ValueError(
                f"only {' and '.join(WITHOUT_NEGATIVE)} of kind sequence have a `negative` label, "
                f"not {metric} of {kind}"
            )
        return value

    @model_validator(mode="after")
    def says_which_label_is_negative(self) -> Self:
        given = "negative" in self.model_fields_set
        if (self.kind, self.metric) == ("sequence", "micro_f1") and not given:
            raise ValueError(
                "micro_f1 of kind sequence needs `negative`: the label that it leaves out, or null"
            )
        if self.metric == "positive_f1" and self.negative is None:
            raise ValueError("positive_f1 needs `negative`: which of the two labels isn't the positive one")
        return self

    @model_validator(mode="after")
    def says_where_to_apply(self) -> Self:
        if (self.access == "public") != (self.apply is None):
            raise ValueError(
                "`apply` (the page to apply at) is needed unless access is public, and only then"
            )
        return self
