"""Specs of corpora, vocabularies and pretraining recipes."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pubmill.recipes import PretrainingRecipe
from pubmill.specs.base import Https, Name, Spec, Strict


class PubmedSource(Strict):
    """Files of NCBI's PubMed folders, as ranges of their names: `26n0001-26n1334`."""

    name: Name
    kind: Literal["pubmed"]
    url: Https
    files: dict[Literal["baseline", "updatefiles"], tuple[str, ...]]


class TextSource(Strict):
    """JSON lines of the user's own: all files of the folder `local_files: {KEY: ...}` that match."""

    name: Name
    kind: Literal["text"]
    local: str
    files: str = "*.jsonl.gz"


class Selection(Strict):
    """Which parts of documents are text, and filters over documents; null leaves one off.

    Words are those of the parts that are taken.
    """

    parts: tuple[Literal["abstract", "body"], ...] = ("abstract",)
    min_words: int | None = None
    max_words: int | None = None
    languages: tuple[str, ...] | None = None
    published_from: int | None = None
    published_to: int | None = None


class Lock(Strict):
    """The lock of a corpus that is built again: a file of the folder `local_files: {KEY: ...}`."""

    local: str
    file: str = "corpus.lock"


class CorpusSpec(Spec):
    sources: tuple[Annotated[PubmedSource | TextSource, Field(discriminator="kind")], ...]
    selection: Selection
    lock: Lock | None = None


class VocabSpec(Spec):
    kind: Literal["wordpiece"]
    size: int
    lowercase: bool
    corpus: Name


class PretrainingSpec(Spec):
    """A recipe on a corpus; `checkpoints` are the steps that are kept, each a target of the graph."""

    corpus: Name
    vocab: Name
    sentence_splitter: Https
    recipe: PretrainingRecipe
    checkpoints: tuple[int, ...]

    @model_validator(mode="after")
    def checkpoints_rise_to_the_last_step(self) -> Self:
        kept = self.checkpoints
        if not kept or list(kept) != sorted(set(kept)) or kept[-1] != self.recipe.steps:
            raise ValueError(f"checkpoints must rise and end with steps ({self.recipe.steps}), found {kept}")
        return self
