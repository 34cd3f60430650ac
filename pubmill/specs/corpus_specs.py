"""Specs of corpora, vocabularies and pretraining recipes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, GetPydanticSchema, PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator

from pubmill.recipes import PretrainingRecipe, VocabRecipe
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.recipes.models import TrainingStart
from pubmill.recipes.recipe_types import LocalKey, Name
from pubmill.recipes.vocabs import Learner
from pubmill.specs.spec_types import FileName, FilePath, FilePattern, Https, Spec, Strict
from pubmill.specs.strict_yaml import Location


class Duplicates(Strict):
    """Removal of texts that occur more than once. The copy from the source with the most authority is kept;
    within a source, the first copy.

    `exact`: the same words in the same order, ignoring case, punctuation and spaces.
    `similarity`: also texts whose sets of five successive words have at least this Jaccard similarity,
    estimated from 128 MinHashes; Lee et al. (2022), "Deduplicating training data makes language models
    better", section 4.2, use 0.8. Null turns it off.
    """

    exact: Literal[True] = True
    similarity: Annotated[float, Field(ge=0.5, le=1.0)] | None = None


class Contamination(Strict):
    """Removal of documents that contain texts of these splits of these datasets.

    - `datasets`, `splits`: those whose texts are searched for.
    """

    datasets: Annotated[tuple[Name, ...], Field(min_length=1)]
    splits: Annotated[tuple[Literal["dev", "test"], ...], Field(min_length=1)] = ("dev", "test")


class MimicSource(Strict):
    """The notes of MIMIC-III, for users with access, in the folder `local_files: {KEY: ...}`.

    `brackets`: de-identified places such as `[**Hospital1 18**]` are kept, or normalised to the word for what
    they replace (`hospital`).

    - `name`: the source's name in `selections` and in counts.
    - `kind`: `mimic`.
    - `local`: the key of the folder in `local_files`.
    - `access`: `credentialed`.
    - `apply`: the page to apply at.
    - `file`: the file's name there.
    """

    name: Name
    kind: Literal["mimic"]
    local: LocalKey
    file: Literal["NOTEEVENTS.csv.gz", "NOTEEVENTS.csv"] = "NOTEEVENTS.csv.gz"
    access: Literal["credentialed"]
    apply: Https
    brackets: Literal["keep", "normalise"] = "keep"


class PubmedSource(Strict):
    """Files of NCBI's PubMed folders, as ranges of their names: `26n0001-26n1334`.

    `parser: pubmed_parser` reads citations as lewis2020 did, without the text that the package pubmed_parser
    loses (docs/parsers.md).

    - `name`: the source's name in `selections` and in counts.
    - `kind`: `pubmed`.
    - `url`: the folder at NCBI that has `baseline` and `updatefiles`.
    - `files`: ranges of file names in each of the two folders.
    - `parser`: how a citation is read.
    """

    name: Name
    kind: Literal["pubmed"]
    url: Https
    files: dict[Literal["baseline", "updatefiles"], tuple[str, ...]]
    parser: Literal["pubmill", "pubmed_parser"] = "pubmill"


class TextSource(Strict):
    """Texts that the user provides: all files in the folder `local_files: {KEY: ...}` that match `files`.

    `documents`: how a file is divided: as JSON lines, or as plain text with one document per file, per line
    or per paragraph between blank lines. `language`: that of documents that specify none.

    - `name`: the source's name in `selections` and in counts.
    - `kind`: `text`.
    - `local`: the key of the folder in `local_files`.
    - `files`: pattern of the file names that are read.
    - `origin`: where the texts are to be had; without the folder, tables leave out models that are
      pretrained on them, with this reason. Null: a folder that is not named is an error.
    """

    name: Name
    kind: Literal["text"]
    local: LocalKey
    origin: str | None = None
    files: FilePattern = "*.jsonl.gz"
    documents: Literal["json", "file", "line", "blank-line"] = "json"
    language: str = ""


ArticleName = Annotated[str, Field(pattern=r"^PMC[1-9]\d*\.[1-9]\d*$")]
Reason = Annotated[str, Field(min_length=1)]
LeftOut = Literal["captions", "footnotes", "formulas", "sub-articles", "supplements", "tables"]


class Articles(Strict):
    """How articles are read: the parser, and the elements of the body that are not text (`leave_out`).

    `formulas` are display formulas only. References, labels, TeX and everything after the body are never text
    (`pubmill/corpus/jats.py`). `unreadable`: shard -> article -> fault; these articles cannot be read and are
    skipped. An article is `PMC123.1` (number and version; the version is 1 in packages).

    - `name`: the source's name in `selections` and in counts.
    - `parser`: how an article is read.
    - `leave_out`: elements of the body that are not text.
    """

    name: Name
    parser: Literal["pubmill", "pubmed_parser"] = "pubmill"
    leave_out: tuple[LeftOut, ...]
    unreadable: dict[str, dict[ArticleName, Reason]] = {}

    def faults(self) -> Iterator[str]:
        if self.parser == "pubmed_parser" and self.leave_out:
            yield "pubmed_parser cannot leave out elements; write `leave_out: []`"


class PmcSource(Articles):
    """The bucket as listed in the inventory of one day; the latest version of each article is used.

    `articles`: ranges of shards by PMCID: `PMC00000xxxx-PMC01299xxxx` are 1,300 shards of 10,000 numbers
    each.

    - `kind`: `pmc`.
    - `url`: the bucket.
    - `inventory`: the day of the inventory that lists the articles.
    """

    kind: Literal["pmc"]
    url: Https
    inventory: date
    articles: tuple[str, ...]


class PmcPackagesSource(Articles):
    """Packages `NAME.tar.gz`, each with `NAME.filelist.csv`, by name below `url`; the later date wins.

    - `kind`: `pmc-packages`.
    - `packages`: the packages, without `.tar.gz`.
    - `url`: the folder of the packages.
    """

    kind: Literal["pmc-packages"]
    url: Https
    packages: tuple[FilePath, ...]


Source = PubmedSource | TextSource | PmcSource | PmcPackagesSource | MimicSource


class Lock(Strict):
    """The lock file of a corpus to rebuild, in the folder `local_files: {KEY: ...}`.

    - `local`: the key of the folder in `local_files`.
    - `file`: the lock file's name.
    """

    local: LocalKey
    file: FileName = "corpus.lock"


def _written_keys(values: Any, validate: ValidatorFunctionWrapHandler) -> dict[str, Any]:
    """Return the keys of a selection that the spec contains, with their validated values."""
    selection = validate(values)
    return {key: getattr(selection, key) for key in values}


SelectionKeys = Annotated[
    dict[str, Any],
    GetPydanticSchema(
        lambda _, handler: handler.generate_schema(Annotated[SelectionRecipe, WrapValidator(_written_keys)])
    ),
    PlainSerializer(lambda keys: asdict(SelectionRecipe(**keys))),
]
"""Some keys of a `SelectionRecipe`, which override those of another; dumped with defaults for the others."""


class CorpusSpec(Spec):
    """Sources in order of authority, and what is taken from them.

    - `sources`: where documents come from; if two have the same document, the first wins.
    - `duplicates`: removal of repeated texts; null keeps them.
    - `contamination`: removal of documents that contain test texts; null keeps them.
    - `lock`: the lock of an earlier corpus to rebuild; null builds a new one.
    - `selection`: the parts of documents and the filters for all sources.
    - `selections`: keys of `selection` that differ for a source, by its name.
    """

    sources: tuple[Annotated[Source, Field(discriminator="kind")], ...]
    selection: SelectionRecipe
    selections: dict[Name, SelectionKeys] = {}
    duplicates: Duplicates | None = None
    contamination: Contamination | None = None
    lock: Lock | None = None

    def selection_of(self, source: str) -> SelectionRecipe:
        """The selection that applies to one of the sources."""
        return replace(self.selection, **self.selections.get(source, {}))


class LearntVocabSpec(Spec):
    """A vocabulary learnt from a corpus; its other keys are those of `VocabRecipe`.

    - `kind`: how text becomes pieces.
    - `size`: number of pieces, special ones included.
    - `lowercase`: whether case is ignored.
    - `learner`: how pieces are learnt from word counts.
    - `most_words`: number of the most frequent words that are used.
    - `corpus`: the corpus whose words are counted.
    """

    kind: Literal["wordpiece", "byte-level-bpe", "sentencepiece"]
    size: Annotated[int, Field(ge=1)]
    lowercase: bool
    learner: Learner = "merges"
    most_words: Annotated[int, Field(ge=1)] = 4_000_000
    corpus: Name

    @property
    def recipe(self) -> VocabRecipe:
        keys = {"kind", "size", "lowercase", "learner", "most_words"}
        return VocabRecipe(**self.model_dump(include=keys))

    def faults(self) -> Iterable[str]:
        return filter(None, [self.recipe.fault()])


class ReleasedVocabSpec(Spec):
    """The tokenizer released with a model, by the name of the model's spec.

    - `kind`: `released`.
    - `model`: the model whose tokenizer it is.
    - `size`: its number of pieces, which plans use; null: BERT's is assumed.
    """

    kind: Literal["released"]
    model: Name
    size: Annotated[int, Field(ge=1)] | None = None


VocabSpec = Annotated[LearntVocabSpec | ReleasedVocabSpec, Field(discriminator="kind")]


class PretrainingSpec(Spec):
    """A recipe on a corpus.

    - `corpus`: the corpus to train on.
    - `vocab`: the vocabulary.
    - `sentence_splitter`: URL of the sentence-splitter model used for packing.
    - `title`: whether titles are text.
    - `held_out`: share of the documents that are not trained on, but give the held-out loss.
    - `start`: where training starts; null: from random weights.
    - `teacher`: the model that a distillation learns from.
    - `recipe`: architecture, objective, optimisation and sizes.
    - `checkpoints`: the steps at which the weights are kept, each a target of the graph.
    """

    corpus: Name
    vocab: Name
    sentence_splitter: Https
    title: bool = False
    held_out: Annotated[float, Field(ge=0, lt=1)] = 0.005
    start: TrainingStart | None = None
    teacher: Name | None = None
    recipe: PretrainingRecipe
    checkpoints: tuple[int, ...]

    def faults(self) -> Iterator[str]:
        kept, first = self.checkpoints, self.start.step if self.start and self.start.step else 0
        if not kept or list(kept) != sorted(set(kept)) or kept[-1] != self.recipe.steps:
            yield f"checkpoints must rise and end with steps ({self.recipe.steps}), found {kept}"
        elif kept[0] <= first:
            yield f"checkpoints must be above {first}, where training starts; found {kept}"
        if (self.teacher is None) != (self.recipe.objective.distillation is None):
            yield "`teacher` and `recipe.objective.distillation` go together; one of them is missing"


_WHICH_FILES = {"files", "articles", "packages"}
"""Keys of a source that select its files but do not affect how one is read. A parsed file belongs to its
source and is shared by all corpora with that source."""


def faults_of_corpora(corpora: Mapping[str, CorpusSpec]) -> Iterator[tuple[str, Location, str]]:
    """Yield each fault as (corpus, location in its spec, message)."""
    known: dict[str, tuple[str, dict[str, object]]] = {}
    for name, corpus in corpora.items():
        for i, source in enumerate(corpus.sources):
            reading = source.model_dump(exclude=_WHICH_FILES)
            first, other = known.setdefault(source.name, (name, reading))
            different = sorted(key for key in reading | other if reading.get(key) != other.get(key))
            if different and first != name:
                fault = f"specs/corpora/{first}.yaml has a source {source.name} with a different "
                yield name, ("sources", i, "name"), f"{fault}{', '.join(different)}; rename one"
    for name, corpus in corpora.items():
        sources = [source.name for source in corpus.sources]
        for i, called in enumerate(sources):
            if called in sources[:i]:
                yield name, ("sources", i, "name"), f"another source of this corpus is also called {called}"
        for called in sorted(corpus.selections.keys() - set(sources)):
            yield name, ("selections", called), f"this corpus has no source {called}"
