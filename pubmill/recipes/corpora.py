"""Recipes of corpora: parsing, versions, selection, duplicates, texts of datasets, locks."""

import re
from dataclasses import field
from typing import Literal

from pubmill.recipes.recipe_types import StrictRecipe

SourceKind = Literal["pubmed", "pmc", "pmc-packages", "text", "mimic"]
Parser = Literal["pubmill", "pubmed_parser"]
Division = Literal["json", "file", "line", "blank-line"]
Brackets = Literal["keep", "normalise"]
LicenceGroup = Literal["commercial", "noncommercial", "other"]
Flag = Literal[
    "retracted", "concern", "erratum", "republished",
    "retraction_notice", "concern_notice", "erratum_notice", "republication",
    "manuscript", "ocr",
]  # fmt: skip

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class FetchRecipe(StrictRecipe):
    """The files of a block, by their addresses; whether the md5 of each is published beside it."""

    urls: tuple[str, ...]
    md5_beside: bool


class ParsingRecipe(StrictRecipe):
    """A source, by its name in the corpus spec, and how its files are read.

    - `kind`: the kind of its files.
    - `parser`: of PubMed and PMC.
    - `leave_out`: of PMC: elements that are not text.
    - `unreadable`: of PMC: shard -> articles that cannot be read.
    - `documents`, `language`: of one's own texts: how a file is divided, and the default language.
    - `brackets`: of clinical notes: how to treat de-identified places.
    """

    source: str
    kind: SourceKind
    parser: Parser = "pubmill"
    leave_out: tuple[str, ...] = ()
    unreadable: dict[str, tuple[str, ...]] = field(default_factory=dict)
    documents: Division = "json"
    language: str = ""
    brackets: Brackets = "keep"


class SourceShards(StrictRecipe):
    """A source and the names of its shards, in the order of loading."""

    name: str
    shards: tuple[str, ...]


class LatestRecipe(StrictRecipe):
    """The sources of a corpus in the order of authority. The shards are named here and not by paths on the
    command line: those of a whole baseline would be longer than a shell command may be."""

    sources: tuple[SourceShards, ...]


class SourceFolder(StrictRecipe):
    """Files of one source in one folder below the folder of all sources, in the order of loading."""

    source: str
    folder: str
    names: tuple[str, ...]


class LockRecipe(StrictRecipe):
    """The source files of a corpus, in the order of loading."""

    files: tuple[SourceFolder, ...]


class SelectionRecipe(StrictRecipe):
    """Parts of documents to use as text, and filters over documents; null turns a filter off.

    - `min_words`, `max_words`: limits on the words in the selected parts.
    - `licences`: licence groups of PMC articles.
    - `without`: flags that exclude a document (docs/retractions.md).
    - `types`: a document needs at least one of these (a publication type, a note's category);
      `without_types`: it must have none of these.
    - `requires`: parts that must be present, whether or not they are selected.
    - `published_*`: years of publication; `dated_*` (YYYY-MM-DD): days of the last revision; both inclusive.
    - `parts`: the parts of a document that are text.
    - `languages`: a document needs one of these languages.
    - `published_from`: first year of publication.
    - `published_to`: last year of publication.
    - `dated_from`: first day of the last revision.
    - `dated_to`: last day of the last revision.
    """

    parts: tuple[Literal["abstract", "body"], ...] = ("abstract",)
    licences: tuple[LicenceGroup, ...] | None = None
    without: tuple[Flag, ...] = ()
    min_words: int | None = None
    max_words: int | None = None
    languages: tuple[str, ...] | None = None
    published_from: int | None = None
    published_to: int | None = None
    types: tuple[str, ...] | None = None
    without_types: tuple[str, ...] | None = None
    requires: tuple[Literal["title", "abstract", "body"], ...] = ()
    dated_from: str | None = None
    dated_to: str | None = None

    def __post_init__(self) -> None:
        for name in ("dated_from", "dated_to"):
            day = getattr(self, name)
            if day is not None and not _DAY.fullmatch(day):
                raise ValueError(f"{name} must be a day, YYYY-MM-DD, found {day!r}")


class FingerprintRecipe(StrictRecipe):
    """The selection of a part, and whether to look for similar texts in addition to identical ones."""

    selection: SelectionRecipe
    similar: bool


class DuplicatesRecipe(StrictRecipe):
    """Smallest share of common MinHashes that makes a copy; null finds only identical texts."""

    similarity: float | None


class EvaluatedDataset(StrictRecipe):
    """A dataset whose texts are searched for: its splits, and whether its documents have PMIDs."""

    dataset: str
    splits: tuple[str, ...]
    pmids: bool


class IndexRecipe(StrictRecipe):
    """The datasets whose texts are indexed."""

    datasets: tuple[EvaluatedDataset, ...]


class DocumentsRecipe(StrictRecipe):
    """Documents that are looked up in the sources of a corpus, given in the order of authority. `documents`:
    dataset -> files below the results folder whose rows have a PMID as `document`."""

    sources: tuple[SourceShards, ...]
    documents: dict[str, tuple[str, ...]]


class StatisticsRecipe(StrictRecipe):
    """The corpus whose totals are written, and the last file of each of its sources."""

    corpus: str
    last_files: dict[str, str] = field(default_factory=dict)
