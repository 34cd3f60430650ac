"""Specs of datasets: file sources, access, conversion and expected counts."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
)

from pubmill.examples.kind_facts import FACTS
from pubmill.examples.kinds import SPLITS, Split
from pubmill.metrics import METRICS, dev_scores
from pubmill.recipes.datasets import Access, Glosses, PublishedFile
from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.recipe_types import Kind, LocalKey
from pubmill.specs.spec_types import FileName, Https, Sha256, Spec, Strict

Role = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
WITHOUT_NEGATIVE = ("micro_f1", "positive_f1")
"""Sequence metrics that ignore the negative label."""

TASKS = {kind: facts.tasks for kind, facts in FACTS.items()}
"""Kind of examples -> tasks with such examples."""


@cache
def _function_names(module: str) -> frozenset[str]:
    """Names of the functions in a module of `pubmill.convert`. They are read from its syntax tree, because
    every start of Snakemake loads the specs and importing the converters takes more than a second."""
    path = Path(__file__).resolve().parents[1] / "convert" / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def _check_converter(name: str) -> str:
    module, _, function = name.removeprefix("pubmill.convert.").partition(":")
    if function not in _function_names(module):
        raise ValueError(f"there is no function {function} in pubmill/convert/{module}.py")
    return name


def _without_nulls(values: Any) -> Any:
    """Remove null counts and glosses, by which a spec deletes those of the spec that it includes."""
    if not isinstance(values, dict):
        return values
    inner = {key: one for key, one in values.items() if isinstance(one, dict)}
    return values | {key: {k: v for k, v in one.items() if v is not None} for key, one in inner.items()}


GlossesAsWritten = dict[Literal["annotated", "labels", "source"], str | dict[str, str | None]]
"""Glosses as in the file: null labels, which delete labels of the included spec, are not removed yet."""
Function = Annotated[
    str, Field(pattern=r"^pubmill\.convert\.[a-z0-9_]+:[a-z_]+$"), AfterValidator(_check_converter)
]
Converter = Annotated[
    str,
    Field(pattern=r"^(pubmill\.convert\.)?[a-z][a-z0-9_]*:[a-z_]+$"),
    AfterValidator(lambda name: _check_converter(name) if name.startswith("pubmill.") else name),
]
"""A converter of pubmill, or `MODULE:FUNCTION` of the user's own file."""


class File(Strict):
    """A file to download, with exactly one of `sha256`, `git_blob` and `unchecked`.

    - `url`: its address.
    - `sha256`: the SHA-256 of its content.
    - `git_blob`: git's id of its content.
    - `unchecked`: why its bytes can't be known in advance.
    """

    url: Https
    sha256: Sha256 | None = None
    git_blob: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    unchecked: str | None = None

    def faults(self) -> Iterator[str]:
        if sum(value is not None for value in (self.sha256, self.git_blob, self.unchecked)) != 1:
            yield "give exactly one of sha256, git_blob and unchecked (with the reason)"


class LocalFile(Strict):
    """A file that the user provides, in the folder that `local_files.KEY` of the configuration names.

    - `local`: the key of the folder in `local_files`.
    - `file`: the file's name there.
    - `sha256`: its hash; null: not known.
    """

    local: LocalKey
    file: FileName
    sha256: Sha256 | None = None


def _source_kind(source: Any) -> str:
    own = isinstance(source, LocalFile) or (isinstance(source, dict) and "local" in source)
    return "own file" if own else "file of the network"


# The tags must not be keys: pydantic puts them into error locations, in which keys are looked for.
Source = Annotated[
    Annotated[File, Tag("file of the network")] | Annotated[LocalFile, Tag("own file")],
    Discriminator(_source_kind),
]


class Published(Strict):
    """The format in which others publish the dataset, and the hashes of their files where known.

    - `writer`: the function that writes the form.
    - `options`: the writer's options; those under a split's name apply only to it.
    - `files`: the files of the form, by split.
    """

    writer: Function
    options: dict[str, Any] = {}
    files: dict[Split, PublishedFile]


class DatasetSpec(Spec):
    """A dataset in one variant.

    - `conflicts`: published counts or variants that contradict this one.
    - `suites`: benchmarks that include the dataset.
    - `negative`: the label for "no relation", which micro F1 ignores; null if there is none.
    - `pmids`: each example's `document` is a PMID; null if it is another identifier or absent.
    - `mentions`: the type of all its mentions, which prompts name; null: several types, or no mentions.
    - `copies`: copies of the corpus in PubTator's form, all splits together, whose documents are named by
      PMIDs; in them the documents of sentences are found.
    - `glosses`: what is annotated and what its labels mean; null: not said.
    - `expect`: counts; a null count removes the one of the included spec.
    - `kind`: the form of its examples.
    - `task`: what is predicted; it selects overrides of protocols and metrics.
    - `domain`: where its texts come from.
    - `sources`: its files, by role; the converter defines the roles.
    - `splits`: the splits that it has.
    - `access`: who may have the files; `local`: they are the user's own and not public.
    - `apply`: the page to apply at, if access is `registration` or `credentialed`.
    - `licence`: the licence as its publishers state it.
    - `converter`: the function that reads the files; `MODULE:FUNCTION` is one of your own, in the file
      `MODULE.py` that is the source `converter`.
    - `options`: the converter's options; those under a split's name apply only to it.
    - `dummies`: words that replace a relation's mentions.
    - `published`: the form in which others publish it; null: none is known.
    - `metric`: the metric by which weights are chosen, and which tables show by default.
    - `version`: raised when the examples change for the same files; reruns all that uses them.
    """

    kind: Kind
    task: Literal[
        "ner", "de-identification", "pico", "relation", "similarity", "classification", "yes-no", "factoid",
        "reading", "inference", "document-relation", "nested-ner", "list",
    ]  # fmt: skip
    domain: Literal["biomedical", "clinical", "general"]
    suites: tuple[str, ...] = ()
    sources: dict[Role, Source]
    splits: tuple[Split, ...] = SPLITS
    access: Access
    apply: Https | None = None
    licence: str
    converter: Converter
    options: dict[str, Any] = {}
    dummies: Dummies | None = None
    pmids: Literal[True] | None = None
    mentions: Annotated[str, Field(pattern=r"^[a-z]+$")] | None = None
    copies: tuple[File, ...] = ()
    expect: Annotated[
        dict[Split, dict[str, int]],
        BeforeValidator(_without_nulls, json_schema_input_type=dict[Split, dict[str, int | None] | None]),
    ]
    conflicts: tuple[str, ...] = ()
    published: Published | None = None
    glosses: Annotated[
        Glosses | None, BeforeValidator(_without_nulls, json_schema_input_type=GlossesAsWritten | None)
    ] = None
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
        """Check that the metric fits the kind and task and has a dev score, by which weights are chosen."""
        kind, task = info.data.get("kind"), info.data.get("task")
        known = dev_scores(kind, task) if kind and task else [value]
        if value not in known:
            fault = f"metric of {task} ({kind}) is one of {', '.join(known)}"
            if value in METRICS and METRICS[value].fits(kind or "", task or ""):
                fault += f"; {value} has no dev score to choose weights by; use it as a table's `metric`"
            raise ValueError(fault)
        return value

    @field_validator("converter")
    @classmethod
    def has_its_file(cls, value: str, info: ValidationInfo) -> str:
        module, own = value.partition(":")[0], not value.startswith("pubmill.")
        file = info.data.get("sources", {}).get("converter") if own else None
        if own and not (isinstance(file, LocalFile) and file.file == f"{module}.py"):
            raise ValueError(
                f"a converter of your own needs the source `converter: {{local: KEY, file: {module}.py}}`; "
                "one of pubmill is named `pubmill.convert.MODULE:FUNCTION`"
            )
        return value

    @field_validator("expect", "published")
    @classmethod
    def is_of_its_splits(cls, value: Any, info: ValidationInfo) -> Any:
        splits = ", ".join(info.data.get("splits", ()))
        named = value.files if isinstance(value, Published) else value or ()
        strangers = sorted(set(named) - set(info.data.get("splits", ())))
        if splits and strangers:
            raise ValueError(f"names {', '.join(strangers)}, but the dataset's splits are {splits}")
        return value

    @field_validator("copies", "mentions")
    @classmethod
    def are_of_sentences(cls, value: Any, info: ValidationInfo) -> Any:
        if value and info.data.get("kind", "tokens") != "tokens":
            raise ValueError(f"only datasets of labelled words (kind tokens) have `{info.field_name}`")
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

    def faults(self) -> Iterator[str]:
        given = "negative" in self.model_fields_set
        if (self.kind, self.metric) == ("sequence", "micro_f1") and not given:
            yield "micro_f1 of kind sequence needs `negative`: the label that it ignores, or null"
        if self.metric == "positive_f1" and self.negative is None:
            yield "positive_f1 needs `negative`: the one of the two labels that is not positive"
        if (self.access in ("public", "local")) != (self.apply is None):
            yield (
                "`apply` (the page where users request access) is required if access is registration or "
                "credentialed; public and local datasets must not have it"
            )
