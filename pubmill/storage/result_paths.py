"""Paths of results below the folder of a scale, and the runs, choices and specs that they name.

Methods that take names or numbers also take a wildcard of Snakemake (`"{seed}"`).
"""

import re
from collections.abc import Iterator
from pathlib import PurePath, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from pubmill.errors import PubmillError
from pubmill.storage.model_folders import CONFIG, TOKENIZER_FILES, WEIGHTS

PREDICTIONS, TRAINING = ".predictions.jsonl.gz", ".training.json"
RECORD, CONTRIBUTIONS = ".json", ".items.npz"
"""Endings of the files of a seed."""
RUNS, RECORDS = "runs.json", "records.json"
"""Manifests of a run's final seeds: their predictions and training reports; their records."""
FINAL_RECORDS = f"final/seed-*[0-9]{RECORD}"
"""Pattern of the final records in a run's folder."""
ALL_RECORDS = f"runs/*/*/*/*/{FINAL_RECORDS}"
"""Pattern of the records of all final runs."""
SOURCE_RECORD = ".source.json"
"""Ending of the file that records where a source file came from."""
BLOCKS = "blocks"
"""Name of folders of manifests of blocks."""
CARD, STATISTICS, DIAGNOSIS = "card.json", "stats.json", "diagnosis.json"
STATE, LOG = "state.json", "log.jsonl"
DATASET_NOTICES = "dataset-notices.json"
VOCAB_FILES = (*TOKENIZER_FILES, DIAGNOSIS)
"""Files of every vocabulary; each kind adds vocab.txt, vocab.json and merges.txt, or spiece.model."""
_PACKED = ("ids.bin", "sentences.npy", "documents.npy", "index.json")
PACKED_PARTS = "parts.json"
TOKEN_FILES = (*_PACKED, *(f"held-out/{name}" for name in _PACKED))
CHECKPOINT_FILES = (WEIGHTS, "auxiliary.safetensors", "optimizer.safetensors", CONFIG, LOG, STATE)
MODEL_FILES = (CONFIG, WEIGHTS, *TOKENIZER_FILES, "README.md")
DATASET_FILES = ("train.jsonl.gz", "dev.jsonl.gz", "test.jsonl.gz", CARD)
TABLE_FORMATS = ("json", "csv", "md", "tex", "html")
COMPARISON_FORMATS = ("json", "md", "html")

_ENDING = re.compile(r"(\.xml|\.tar|\.jsonl|\.txt|\.csv)?(\.gz)?$")

Number = int | str
"""A number, or the wildcard for one."""


class RunKey(NamedTuple):
    """Key of the fine-tunings that differ only in their seed."""

    protocol: str
    model: str
    dataset: str
    setting: str


class ChoiceKey(NamedTuple):
    """Key of a hyper-parameter search; `model` is None if all models share one choice."""

    protocol: str
    model: str | None
    dataset: str
    setting: str


class RunPath(NamedTuple):
    """The run that the path of a record names."""

    run: RunKey
    seed: int


class Paths:
    """Paths below one results folder; relative to it by default, as recipes hold them. `study`: whose tables
    are meant; only they need it. Methods with a `name` return a folder, or its file of that name; those with
    a `form` or `ending`, one file or the path before it."""

    def __init__(self, results: str | PurePath = "", study: str = "") -> None:
        self.results = str(results)
        self.study = study
        self._prefix = f"{self.results}/" if self.results else ""

    def at(self, below: str) -> str:
        """Return the path of a file by its path below the results folder."""
        return f"{self._prefix}{below}"

    def below(self, path: str) -> str:
        """Return a path relative to the results folder."""
        return path.removeprefix(self._prefix)

    def log(self, stem: str) -> str:
        """Return the log of the job that writes a path, given without its ending."""
        return self.at(f"logs/{self.below(stem)}.log")

    def benchmark(self, rule: str, stem: str) -> str:
        """Return the file of seconds and memory of the job that writes a path, given without its ending."""
        return self.at(f"benchmarks/{rule}/{self.below(stem)}.tsv")

    # Sources

    def sources(self) -> str:
        return self.at("sources")

    def source(self, path: str) -> str:
        """Return the copy of a file by its host and path, which is its URL without `https://`."""
        return f"{self.sources()}/{path}"

    def source_of_url(self, url: str) -> str:
        parts = urlsplit(url)
        return self.source(f"{parts.netloc}{parts.path}")

    def local_source(self, key: str, name: str) -> str:
        """Return the copy of a user's file, by its key in `local_files`."""
        return self.source(f"local/{key}/{name}")

    def release_pin(self, model: str) -> str:
        """Return the file with the commit or hash of a model's weights at their first download."""
        return self.source(f"released/{model}.json")

    def pmc_plan(self, source: str) -> str:
        return self.source(f"pmc/{source}/plan.parquet")

    def pmc_archive(self, source: str, shard: str) -> str:
        return self.source(f"pmc/{source}/{shard}.tar.gz")

    @staticmethod
    def source_record(file: str) -> str:
        """Return the file that records where a source file came from; it lies beside that file."""
        return f"{file}{SOURCE_RECORD}"

    # Corpora

    @staticmethod
    def block(folder: str, source: str, block: str) -> str:
        """Return the manifest of a block: of what a job makes in `folder` from some files of a source."""
        return f"{folder}/{BLOCKS}/{source}/{block}.json"

    def parsed(self, source: str = "") -> str:
        """Return the folder of parsed shards of a source, which corpora share, or that of all sources."""
        return self.corpus("parsed", source)

    def corpus(self, corpus: str, name: str = "") -> str:
        return _path_in(self.at(f"corpora/{corpus}"), name)

    def fingerprints(self, corpus: str) -> str:
        return self.corpus(corpus, "fingerprints")

    def words(self, corpus: str, splitting: str) -> str:
        """Return the folder of a corpus's word counts, for one way of separating words."""
        return self.corpus(corpus, f"words/{splitting}")

    def contamination(self, corpus: str) -> str:
        """Return the folder of the texts of datasets that were found in the parts of a corpus."""
        return self.corpus(corpus, "contamination")

    # Vocabularies, pretraining, models

    def vocab(self, vocab: str, name: str = "") -> str:
        return _path_in(self.at(f"vocabs/{vocab}"), name)

    def vocab_files(self, vocab: str) -> list[str]:
        return [self.vocab(vocab, name) for name in VOCAB_FILES]

    def fit(self, vocab: str) -> str:
        """Return the diagnosis of a vocabulary on the study's datasets."""
        return self.vocab(vocab, f"on/{self.study}.json")

    def tokens(self, corpus: str, vocab: str, name: str = "") -> str:
        return _path_in(self.at(f"pretraining/tokens/{corpus}/{vocab}"), name)

    def token_files(self, corpus: str, vocab: str) -> list[str]:
        """Return the files of packed tokens that a pretraining reads."""
        return [self.tokens(corpus, vocab, name) for name in TOKEN_FILES]

    def packed_files(self, corpus: str, vocab: str) -> list[str]:
        """Return the files of packed tokens, and the list of the parts that they come from."""
        return [*self.token_files(corpus, vocab), self.tokens(corpus, vocab, PACKED_PARTS)]

    def checkpoint(self, recipe: str, step: Number, name: str = "") -> str:
        return _path_in(self.at(f"pretraining/{recipe}/step-{step}"), name)

    def checkpoint_files(self, recipe: str, step: Number) -> list[str]:
        return [self.checkpoint(recipe, step, name) for name in CHECKPOINT_FILES]

    def model(self, model: str, name: str = "") -> str:
        return _path_in(self.at(f"models/{model}"), name)

    def model_files(self, model: str) -> list[str]:
        return [self.model(model, name) for name in MODEL_FILES]

    # Datasets and runs

    def dataset(self, dataset: str, name: str = "") -> str:
        return _path_in(self.at(f"datasets/{dataset}"), name)

    def dataset_files(self, dataset: str) -> list[str]:
        return [self.dataset(dataset, name) for name in DATASET_FILES]

    def card(self, dataset: str) -> str:
        return self.dataset(dataset, CARD)

    def examples(self, dataset: str, split: str) -> str:
        return self.dataset(dataset, f"{split}.jsonl.gz")

    def sentence_documents(self, dataset: str) -> str:
        return self.at(f"sentence-documents/{dataset}.jsonl.gz")

    def run(self, run: RunKey) -> str:
        """Return the folder of all runs of a model on a dataset."""
        return self.at("runs/" + "/".join(run))

    def task_model(self, run: RunKey, seed: Number) -> str:
        """Return the folder of the model that a run keeps."""
        return f"{self.run(run)}/models/{seed_name(seed)}"

    def trials(self, run: RunKey, block: str) -> str:
        """Return the manifest of the trials of a block of points, which is named after its first point."""
        return f"{self.run(run)}/trials/{block}.json"

    def runs(self, run: RunKey) -> str:
        """Return the manifest of a run's final seeds, which are trained by one job."""
        return f"{self.run(run)}/final/{RUNS}"

    def records(self, run: RunKey) -> str:
        """Return the manifest of the records of a run's seeds."""
        return f"{self.run(run)}/final/{RECORDS}"

    def final(self, run: RunKey, seed: Number, ending: str = "") -> str:
        return f"{self.run(run)}/final/{seed_name(seed, ending)}"

    def predictions(self, run: RunKey, seed: Number) -> str:
        return self.final(run, seed, PREDICTIONS)

    def answers(self, model: str, dataset: str, seed: Number) -> str:
        """Return the answers of a language model to a dataset's test examples."""
        return self.at(f"answers/{model}/seed-{seed}/{dataset}.jsonl")

    def training(self, run: RunKey, seed: Number) -> str:
        return self.final(run, seed, TRAINING)

    def record(self, run: RunKey, seed: Number) -> str:
        return self.final(run, seed, RECORD)

    @staticmethod
    def contributions(record: str) -> str:
        """Return the contributions of documents to a record; the file lies beside the record."""
        return f"{record.removesuffix(RECORD)}{CONTRIBUTIONS}"

    def choice(self, choice: ChoiceKey) -> str:
        """Return the choice of hyper-parameters for a model, or for all models."""
        if choice.model is None:
            return self.at(f"runs/{choice.protocol}/selected/{choice.dataset}/{choice.setting}.json")
        return self.at(f"runs/{'/'.join(map(str, choice))}/selected.json")

    # Tables, pages, reports

    def table(self, table: str, form: str = "") -> str:
        return _with_suffix(self.at(f"tables/{self.study}/{table_stem(table)}"), form)

    def table_files(self, table: str) -> list[str]:
        return [self.table(table, form) for form in TABLE_FORMATS]

    def comparisons(self, table: str, form: str = "") -> str:
        return _with_suffix(f"{self.table(table)}.comparisons", form)

    def comparison_files(self, table: str) -> list[str]:
        return [self.comparisons(table, form) for form in COMPARISON_FORMATS]

    def report(self, study: str, form: str = "") -> str:
        return _with_suffix(self.at(f"reports/{study}"), form)


def source_of_record(record: str) -> str:
    """Return the source file that a record describes; the inverse of `Paths.source_record`."""
    return record.removesuffix(SOURCE_RECORD)


def seed_name(seed: Number, ending: str = "") -> str:
    """Return the name of a file of one seed."""
    return f"seed-{seed}{ending}"


def manifest_of(path: str) -> str:
    """Return the file that a job declares for a file of a run: the manifest beside a final seed's file. All
    other files are declared themselves."""
    folder, _, name = path.rpartition("/")
    if not folder.endswith("/final"):
        return path
    return f"{folder}/{RUNS if name.endswith((PREDICTIONS, TRAINING, RUNS)) else RECORDS}"


def below_sources(path: str) -> str:
    """Return the host and path of a source file, or of a folder of them, given below the results."""
    return path.removeprefix(f"{RELATIVE.sources()}/")


RELATIVE = Paths()
"""Paths below the results folder, as recipes hold them."""


def paths_of_scale(scale: str, results: str = "results", study: str = "", own_tables: str = "") -> Paths:
    """Return the paths of a scale. `results`, `study`, `own_tables`: those of the configuration. Tables of
    one's own lie in a folder whose name no study has."""
    return Paths(f"{results}/{scale}", f"{study}+{own_tables}" if own_tables else study)


def table_stem(table: str) -> str:
    """Return the name of a table's files, `PAPER-tableNN`; `table_of` parses it."""
    return table.replace("/", "-")


def shard_name(file: str) -> str:
    """Return the name of the shard that a file of a source is parsed to: the file's, without its ending."""
    return _ENDING.sub("", file)


def part_name(part: int, form: str = "parquet") -> str:
    """Return the name of the file that holds one part of a corpus, or what is made from it."""
    return f"part-{part:04d}.{form}"


def _path_in(folder: str, name: str) -> str:
    return f"{folder}/{name}" if name else folder


def _with_suffix(path: str, form: str) -> str:
    return f"{path}.{form}" if form else path


def run_of(path: str | PurePath) -> RunPath:
    """Parse the path of a record; raise a `PubmillError` for any other path."""
    match PurePosixPath(path).parts:
        case (*_, protocol, model, dataset, setting, "final", name):
            seed = name.removeprefix("seed-").removesuffix(RECORD)
            if name == f"seed-{seed}{RECORD}" and seed.isdecimal():
                return RunPath(RunKey(protocol, model, dataset, setting), int(seed))
    raise PubmillError(
        f"{path}: expected the path of a record, PROTOCOL/MODEL/DATASET/SETTING/final/seed-N.json"
    )


def choice_of(below: str) -> ChoiceKey:
    """Parse the path of a choice below the results; raise a `PubmillError` for any other path."""
    match PurePosixPath(below).parts:
        case ("runs", protocol, "selected", dataset, name) if name.endswith(".json"):
            return ChoiceKey(protocol, None, dataset, name.removesuffix(".json"))
        case ("runs", protocol, model, dataset, setting, "selected.json"):
            return ChoiceKey(protocol, model, dataset, setting)
    raise PubmillError(f"{below}: expected the path of a choice of hyper-parameters")


def table_of(file: str) -> str:
    """Return the table that the name of a file is of: `PAPER/tableNN`."""
    paper, _, ending = file.rpartition("-")
    return f"{paper}/{ending.partition('.')[0]}"


def names_in(below: str) -> Iterator[tuple[str, str]]:
    """Return the kinds and names of the specs that a path below the results names. A kind is the folder of
    its specs: `models`, `corpora`."""
    match PurePosixPath(below).parts:
        case ("tables", _, file) if "-" in file:
            yield "tables", table_of(file)
        case ("sentence-documents", file):
            yield "datasets", file.removesuffix(".jsonl.gz")
        case ("runs", protocol, "selected", dataset, *_):
            yield from (("protocols", protocol), ("datasets", dataset))
        case ("runs", protocol, model, dataset, *_):
            yield from (("protocols", protocol), ("models", model), ("datasets", dataset))
        case ("pretraining", "tokens", corpus, vocab, *_):
            yield from (("corpora", corpus), ("vocabs", vocab))
        case ("corpora", "parsed", *_):
            return
        case (("corpora" | "vocabs" | "pretraining" | "models" | "datasets") as kind, name, _, *_):
            yield kind, name
