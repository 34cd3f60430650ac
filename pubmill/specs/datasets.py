"""Specs of datasets: where files come from, who may have them, how they are read, what must be found."""

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from pubmill.specs.base import Https, Sha256, Spec, Strict

Split = Literal["train", "dev", "test"]
Role = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Function = Annotated[str, Field(pattern=r"^pubmill\.convert\.[a-z0-9_]+:[a-z_]+$")]


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

    local: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")]
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]*$")]
    sha256: Sha256 | None = None


def _where(source: Any) -> str:
    return (
        "local"
        if isinstance(source, LocalFile) or (isinstance(source, dict) and "local" in source)
        else "file"
    )


Source = Annotated[Annotated[File, Tag("file")] | Annotated[LocalFile, Tag("local")], Discriminator(_where)]


class Dummies(Strict):
    """What stands for a mention of each entity type, and for mentions that overlap."""

    types: dict[str, str]
    overlap: str


class PublishedFile(Strict):
    name: str
    sha256: Sha256 | None = None


class Published(Strict):
    """The form in which others publish the dataset, and its bytes where they are known."""

    writer: Function
    options: dict[str, Any] = {}
    files: dict[Split, PublishedFile]


class DatasetSpec(Spec):
    """`conflicts`: published counts or forms that contradict this one; `suites`: benchmarks it is part
    of; `negative`: the label that says that there is nothing, which micro F1 leaves out."""

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
    duplicates: Literal["keep"]
    expect: dict[Split, dict[str, int]]
    conflicts: tuple[str, ...] = ()
    published: Published | None = None
    metric: Literal[
        "entity_f1", "word_macro_f1", "micro_f1", "macro_f1", "example_f1", "f1", "accuracy", "pearson", "mrr"
    ]  # fmt: skip
    negative: str | None = None
    version: int

    @model_validator(mode="after")
    def says_where_to_apply(self) -> Self:
        if (self.access == "public") != (self.apply is None):
            raise ValueError(
                "`apply` (the page to apply at) is needed unless access is public, and only then"
            )
        return self

    @property
    def local_keys(self) -> list[str]:
        """The keys of `local_files` that its sources need."""
        return sorted({file.local for file in self.sources.values() if isinstance(file, LocalFile)})
