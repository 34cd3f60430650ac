"""Every file name, and every recipe as resolved for a rule. No torch; fast to import.

A recipe is given to a rule's `params:` as JSON text with sorted keys: it holds what decides the
output's content, so Snakemake reruns a job when, and only when, that changes. Machine paths, the
mirror and the number of cores are therefore never in a recipe.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pubmill.errors import PubmillError
from pubmill.specs import (
    DatasetSpec,
    FolderWeights,
    PubmedSource,
    Specs,
    Study,
    TableSpec,
)

# One integer per stage. Bump it when the stage's output changes for the same input; see CONTRIBUTING.
VERSIONS = {
    "download": 1,
    "parse": 1,
    "latest": 1,
    "select": 1,
    "statistics": 1,
    "vocab": 1,
    "pack": 1,
    "pretrain": 1,
    "export": 1,
    "convert": 1,
    "finetune": 1,
    "choose": 1,
    "score": 1,
    "table": 1,
    "report": 1,
}
METRIC_VERSIONS = {"entity_f1": 1}
VOCAB_FILES = ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "diagnosis.json")
TOKEN_FILES = ("ids.bin", "sentences.npy", "documents.npy", "index.json")
CHECKPOINT_FILES = ("model.safetensors", "optimizer.safetensors", "config.json", "log.jsonl", "state.json")
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "README.md")
DATASET_FILES = ("train.jsonl.gz", "dev.jsonl.gz", "test.jsonl.gz", "card.json")
TABLE_FORMS = ("json", "csv", "md", "tex", "html")
_RANGE = re.compile(r"^(\d\d)n(\d{4,})(?:-(\d\d)n(\d{4,}))?$")


def as_json(recipe: Any) -> str:
    """A recipe as text: equal recipes give equal text."""
    return json.dumps(recipe, sort_keys=True)


def pubmed_files(source: PubmedSource) -> list[str]:
    """Relative paths of a PubMed source's files in NCBI's order: baseline, then updates, by number."""
    paths = []
    for folder in ("baseline", "updatefiles"):
        for written in source.files.get(folder, ()):
            matched = _RANGE.match(written)
            if not matched or (matched[3] and matched[3] != matched[1]):
                raise PubmillError(
                    f"source {source.name}: {folder}: {written!r} is no range of PubMed files; "
                    f"write 26n0001 or 26n0001-26n1334 (one year)"
                )
            year, first, last = matched[1], int(matched[2]), int(matched[4] or matched[2])
            paths += [f"{folder}/pubmed{year}n{number:04d}.xml.gz" for number in range(first, last + 1)]
    return paths


class Targets:
    """The artefacts of one study: where each lies, what it is made from, and its recipe."""

    VOCAB_FILES, TOKEN_FILES, CHECKPOINT_FILES = VOCAB_FILES, TOKEN_FILES, CHECKPOINT_FILES
    MODEL_FILES, DATASET_FILES, TABLE_FORMS = MODEL_FILES, DATASET_FILES, TABLE_FORMS

    def __init__(self, study: Study, specs: Specs) -> None:
        self.study = study
        self.specs = specs
        self.results = f"{study.results}/{study.scale}"
        self._checks = dict(self._known_files())
        for recipe in self.pretrainings():
            self.shards(specs.pretraining[recipe].corpus)

    # sources

    def source(self, url: str) -> str:
        """Where the file of a URL lies."""
        parts = urlsplit(url)
        return f"{self.results}/sources/{parts.netloc}{parts.path}"

    def _known_files(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every URL that the specs name, with how its content is checked."""
        for dataset in self.specs.datasets.values():
            for file in dataset.sources.values():
                yield file.url, {"url": file.url, "sha256": file.sha256, "md5_beside": False}
        for corpus in self.specs.corpora.values():
            for source in corpus.sources:
                if isinstance(source, PubmedSource):
                    for path in pubmed_files(source):
                        url = f"{source.url}/{path}"
                        yield url, {"url": url, "sha256": None, "md5_beside": True}
        for recipe in self.specs.pretraining.values():
            url = recipe.sentence_splitter
            yield url, {"url": url, "sha256": None, "md5_beside": False}

    def download(self, path: str) -> dict[str, Any]:
        """What to fetch for `sources/PATH`, and how to check it."""
        url = f"https://{path}"
        if url not in self._checks:
            raise PubmillError(f"no spec names {url}, so pubmill does not know how to check it")
        return self._checks[url]

    def download_checks(self, path: str) -> str:
        """The download program's arguments that say how the content is checked."""
        checks = self.download(path)
        if checks["md5_beside"]:
            return "--md5-beside"
        return f"--sha256 {checks['sha256']}" if checks["sha256"] else ""

    @staticmethod
    def version(stage: str) -> int:
        return VERSIONS[stage]

    def parse_recipe(self, source: str) -> dict[str, Any]:
        return {"source": source}

    # corpora

    def shards(self, corpus: str) -> list[tuple[str, str, str]]:
        """(source, shard, raw file) of a corpus, in order of authority and then in NCBI's order."""
        found = []
        for source in self.specs.corpora[corpus].sources:
            if isinstance(source, PubmedSource):
                for path in pubmed_files(source):
                    shard = Path(path).name.removesuffix(".xml.gz")
                    found.append((source.name, shard, self.source(f"{source.url}/{path}")))
            else:
                for file in self._local_files(corpus, source.local, source.files):
                    found.append((source.name, file.name.split(".jsonl")[0], str(file)))
        return found

    def _local_files(self, corpus: str, key: str, pattern: str) -> list[Path]:
        folder = self._local(key, f"corpus {corpus}")
        files = sorted(folder.glob(pattern))
        if not files:
            raise PubmillError(
                f"corpus {corpus}: no file in {folder} matches {pattern!r} (local_files.{key})"
            )
        return files

    def _local(self, key: str, who: str) -> Path:
        if key not in self.study.local_files:
            raise PubmillError(
                f"{who} needs files of your own: set local_files: {{{key}: /path/to/folder}} in the "
                f'configuration (or --config \'local_files={{"{key}": "/path/to/folder"}}\')'
            )
        return Path(self.study.local_files[key])

    def raw(self, source: str, shard: str) -> str:
        """The raw file behind a parsed shard."""
        for corpus in self.specs.corpora:
            if any(s.name == source for s in self.specs.corpora[corpus].sources):
                for name, found, file in self.shards(corpus):
                    if (name, found) == (source, shard):
                        return file
        raise PubmillError(f"no corpus has a source {source!r} with a shard {shard!r}")

    def source_names(self, kind: str) -> list[str]:
        """Names of all sources of a kind."""
        return sorted({s.name for c in self.specs.corpora.values() for s in c.sources if s.kind == kind})

    def parsed(self, corpus: str) -> list[str]:
        """Parsed shards of a corpus, in the order of `shards`."""
        return [
            f"{self.results}/corpora/parsed/{name}/{shard}.parquet" for name, shard, _ in self.shards(corpus)
        ]

    def parts(self, corpus: str) -> list[str]:
        """Parts of a corpus, one a shard."""
        return [
            f"{self.results}/corpora/{corpus}/part-{i:04d}.parquet" for i, _ in enumerate(self.shards(corpus))
        ]

    def latest_recipe(self, corpus: str) -> dict[str, Any]:
        """Which sources, in order of authority, with how many shards each."""
        names = [name for name, _, _ in self.shards(corpus)]
        sources = [{"name": name, "shards": len(list(run))} for name, run in itertools.groupby(names)]
        return {"sources": sources}

    def selection_recipe(self, corpus: str) -> dict[str, Any]:
        """The filters of a corpus."""
        return self.specs.corpora[corpus].selection.model_dump(mode="json")

    # vocabularies and pretraining

    def vocab_recipe(self, vocab: str) -> dict[str, Any]:
        spec = self.specs.vocabs[vocab]
        return {"kind": spec.kind, "size": spec.size, "lowercase": spec.lowercase}

    def vocab_files(self, vocab: str) -> list[str]:
        return [f"{self.results}/vocabs/{vocab}/{name}" for name in VOCAB_FILES]

    def token_files(self, recipe: str) -> list[str]:
        return [f"{self.results}/pretraining/{recipe}/tokens/{name}" for name in TOKEN_FILES]

    def checkpoint_files(self, recipe: str, step: int) -> list[str]:
        return [f"{self.results}/pretraining/{recipe}/step-{step}/{name}" for name in CHECKPOINT_FILES]

    def pretraining_recipe(self, recipe: str) -> dict[str, Any]:
        """The training recipe. `checkpoints` and `save_every` cut the work and don't change its result."""
        return asdict(self.specs.pretraining[recipe].recipe)

    def steps(self, recipe: str) -> list[int]:
        return list(self.specs.pretraining[recipe].recipe.checkpoints)

    def previous_step(self, recipe: str, step: int) -> int | None:
        """The checkpoint that a segment ending at `step` starts from; None at the beginning."""
        return max((s for s in self.steps(recipe) if s < step), default=None)

    def segment_inputs(self, recipe: str, step: int) -> list[str]:
        """The checkpoint's files that a segment starts from; none for the first."""
        previous = self.previous_step(recipe, step)
        return self.checkpoint_files(recipe, previous) if previous is not None else []

    def segment_arguments(self, recipe: str, step: int) -> str:
        previous = self.previous_step(recipe, step)
        return f"--start {self.results}/pretraining/{recipe}/step-{previous}" if previous is not None else ""

    def pretrainings(self) -> list[str]:
        """Recipes that the study's models are pretrained by."""
        weights = [self.weights(model) for model in self.models()]
        return sorted({w["recipe"] for w in weights if w["kind"] == "pretraining"})

    # models

    def weights(self, model: str) -> dict[str, Any]:
        """Where a model's weights come from at this scale."""
        spec = self.specs.models[model]
        released = {"kind": "hub", **spec.released.model_dump()} if spec.released else None
        own = spec.weights.model_dump() if spec.weights else None
        first, second = (released, own) if self.specs.scale.prefer == "released" else (own, released)
        chosen = first or second
        assert chosen is not None, "ModelSpec.has_weights"
        return chosen

    def model_files(self, model: str) -> list[str]:
        return [f"{self.results}/models/{model}/{name}" for name in MODEL_FILES]

    def model_recipe(self, model: str) -> dict[str, Any]:
        spec, weights = self.specs.models[model], self.weights(model)
        made_here = weights["kind"] in ("pretraining", "random")
        return {
            "model": model,
            "label": spec.label,
            "lowercase": spec.lowercase,
            "weights": weights,
            "pretraining": self.pretraining_recipe(weights["recipe"]) if made_here else None,
            "scale": self.study.scale,
        }

    def model_inputs(self, model: str) -> dict[str, Any]:
        """Named inputs of the export of a model."""
        weights = self.weights(model)
        if weights["kind"] not in ("pretraining", "random"):
            return {}
        spec = self.specs.pretraining[weights["recipe"]]
        inputs: dict[str, Any] = {"vocab": self.vocab_files(spec.vocab)}
        if weights["kind"] == "pretraining":
            inputs["checkpoint"] = self.checkpoint_files(weights["recipe"], spec.recipe.steps)
            inputs["statistics"] = f"{self.results}/corpora/{spec.corpus}/stats.json"
        return inputs

    def model_arguments(self, model: str) -> str:
        """The export program's arguments that name inputs."""
        weights, spec = self.weights(model), self.specs.models[model]
        if weights["kind"] == "hub":
            return ""
        if isinstance(spec.weights, FolderWeights):
            return f"--folder '{self._local(spec.weights.local, f'model {model}')}'"
        pretraining = self.specs.pretraining[weights["recipe"]]
        arguments = f"--vocab {self.results}/vocabs/{pretraining.vocab}"
        if weights["kind"] == "pretraining":
            folder = f"{self.results}/pretraining/{weights['recipe']}/step-{pretraining.recipe.steps}"
            arguments += (
                f" --checkpoint {folder} --statistics {self.results}/corpora/{pretraining.corpus}/stats.json"
            )
        return arguments

    # datasets

    def dataset_recipe(self, dataset: str) -> dict[str, Any]:
        spec = self.specs.datasets[dataset]
        return {
            "dataset": dataset,
            "kind": spec.kind,
            "converter": spec.converter,
            "options": spec.options,
            "duplicates": spec.duplicates,
            "expect": spec.expect,
            "metric": spec.metric,
            "version": spec.version,
        }

    def dataset_inputs(self, dataset: str) -> dict[str, str]:
        return {split: self.source(file.url) for split, file in self.specs.datasets[dataset].sources.items()}

    def dataset_files(self, dataset: str) -> list[str]:
        return [f"{self.results}/datasets/{dataset}/{name}" for name in DATASET_FILES]

    # fine-tuning

    def finetuning_recipe(
        self, protocol: str, dataset: str, setting: str, trial: str | None
    ) -> dict[str, Any]:
        """FinetuningRecipe for a run. With a search, a final run's grid keys come from selected.json."""
        spec, data = self.specs.protocols[protocol], self.specs.datasets[dataset]
        point = self.trials(protocol)[trial] if trial else {}
        fixed = {"task": data.kind, "metric": data.metric}
        return {**fixed, **spec.hyperparameters, **spec.settings[setting], **point}

    def trials(self, protocol: str) -> dict[str, dict[str, float]]:
        """The points of a protocol's grid, by readable name, in the grid's order."""
        search = self.specs.protocols[protocol].search
        if search is None:
            return {}
        grid = dict(sorted(search.grid.items()))
        points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
        return {
            ",".join(f"{key}={value:g}" for key, value in point.items()): _whole(point) for point in points
        }

    def trial_training(self, protocol: str, dataset: str, setting: str) -> list[str]:
        """training.json of every trial that the choice of hyper-parameters reads."""
        search = self.specs.protocols[protocol].search
        if search is None:
            return []
        return [
            f"{self.run_folder(protocol, model, dataset, setting)}/trials/{trial}/seed-{seed}.training.json"
            for trial in self.trials(protocol)
            for model in search.models
            for seed in range(1, search.seeds + 1)
        ]

    def run_folder(self, protocol: str, model: str, dataset: str, setting: str) -> str:
        return f"{self.results}/runs/{protocol}/{model}/{dataset}/{setting}"

    def selected(self, protocol: str, dataset: str, setting: str) -> str:
        """The chosen hyper-parameters, common to all models (gu2020 section 6.2)."""
        return f"{self.results}/runs/{protocol}/selected/{dataset}/{setting}.json"

    def selection_inputs(self, protocol: str, dataset: str, setting: str) -> list[str]:
        """selected.json where the protocol searches; nothing where its settings are given."""
        searches = self.specs.protocols[protocol].search is not None
        return [self.selected(protocol, dataset, setting)] if searches else []

    def seeds(self, protocol: str, dataset: str) -> range:
        seeds = self.specs.protocols[protocol].final.seeds
        return range(1, seeds.get(dataset, seeds["default"]) + 1)

    def score_recipe(
        self, protocol: str, model: str, dataset: str, setting: str, seed: int
    ) -> dict[str, Any]:
        data = self.specs.datasets[dataset]
        return {
            "protocol": protocol,
            "model": model,
            "dataset": dataset,
            "setting": setting,
            "seed": seed,
            "scale": self.study.scale,
            "split": self.specs.protocols[protocol].final.split,
            "metric": data.metric,
            "versions": {
                "convert": [VERSIONS["convert"], data.version],
                "finetune": VERSIONS["finetune"],
                "score": VERSIONS["score"],
                "metric": METRIC_VERSIONS[data.metric],
            },
        }

    # tables and report

    def models(self) -> list[str]:
        """Models of all tables of the study, without repetition."""
        wanted = dict.fromkeys(
            m for table in self.study.tables for m, _ in self._columns(table) if self._runs(m)
        )
        return list(wanted)

    def datasets(self) -> list[str]:
        rows = [row for table in self.study.tables for row in self.specs.tables[table].rows]
        return list(dict.fromkeys(row.dataset for row in rows if self._scores(row.dataset)))

    def _columns(self, table: str) -> list[tuple[str, str]]:
        """(model, label): those the table names, then those that join it."""
        named = [(column.model, column.label) for column in self.specs.tables[table].columns]
        known = {model for model, _ in named}
        joining = [
            (name, spec.label or name)
            for name, spec in self.specs.models.items()
            if table in spec.tables and name not in known and self._runs(name)
        ]
        return named + joining

    def _runs(self, model: str) -> bool:
        return model in self.specs.models and (self.study.models is None or model in self.study.models)

    def _scores(self, dataset: str) -> bool:
        return dataset in self.specs.datasets and (
            self.study.datasets is None or dataset in self.study.datasets
        )

    def records(self, table: str) -> dict[str, dict[str, list[str]]]:
        """The records a table is built from: model -> dataset -> paths below the results folder."""
        spec = self.specs.tables[table]
        return {
            model: {
                row.dataset: [
                    f"runs/{spec.protocol}/{model}/{row.dataset}/{spec.setting}/final/seed-{seed}.json"
                    for seed in self.seeds(spec.protocol, row.dataset)
                ]
                for row in spec.rows
                if self._scores(row.dataset)
            }
            for model, _ in self._columns(table)
            if self._runs(model)
        }

    def record_files(self, table: str) -> list[str]:
        found = self.records(table).values()
        return [
            f"{self.results}/{path}"
            for by_dataset in found
            for paths in by_dataset.values()
            for path in paths
        ]

    def table_recipe(self, table: str) -> dict[str, Any]:
        spec = self.specs.tables[table]
        final = self.specs.protocols[spec.protocol].final
        return {
            "paper": spec.paper,
            "table": spec.name,
            "title": spec.title,
            "caption": spec.caption,
            "notes": spec.notes,
            "scale": self.study.scale,
            "scale_title": self.specs.scale.title,
            "comparable": self.specs.scale.comparable,
            "protocol": spec.protocol,
            "setting": spec.setting,
            "aggregate": final.aggregate,
            "rows": [self._row(row.dataset, row.label, row.group) for row in spec.rows],
            "columns": [{"model": model, "label": label} for model, label in self._columns(table)],
            "composite": spec.composite.model_dump() if spec.composite else None,
            "records": self.records(table),
            "missing": self._missing(spec),
            "versions": {"table": VERSIONS["table"]},
        }

    def _row(self, dataset: str, label: str, group: str) -> dict[str, Any]:
        spec: DatasetSpec | None = self.specs.datasets.get(dataset)
        conflicts = list(spec.conflicts) if spec else []
        return {
            "dataset": dataset,
            "label": label,
            "group": group,
            "metric": spec.metric if spec else None,
            "conflicts": conflicts,
        }

    def _missing(self, spec: TableSpec) -> dict[str, str]:
        """Why a model's column or a dataset's row has nothing of ours."""
        reasons = {}
        for column in spec.columns:
            if not self._runs(column.model):
                reasons[column.model] = column.missing or "not run in this study"
        for row in spec.rows:
            if not self._scores(row.dataset):
                reasons[row.dataset] = row.missing or "not run in this study"
        return reasons

    def published(self, table: str, specs_folder: Path) -> str:
        return str(specs_folder / "tables" / f"{table}.published.csv")

    def table_files(self, table: str) -> list[str]:
        return [f"{self.results}/tables/{table}.{form}" for form in TABLE_FORMS]

    def report(self) -> str:
        return f"{self.results}/reports/{self.study.study}.html"

    def report_recipe(self) -> dict[str, Any]:
        recipes = self.pretrainings()
        return {
            "study": self.study.study,
            "title": self.study.title,
            "scale": self.study.scale,
            "scale_title": self.specs.scale.title,
            "comparable": self.specs.scale.comparable,
            "tables": list(self.study.tables),
            "pretraining": {r: [f"pretraining/{r}/step-{step}" for step in self.steps(r)] for r in recipes},
            "corpora": sorted({self.specs.pretraining[r].corpus for r in recipes}),
            "vocabs": sorted({self.specs.pretraining[r].vocab for r in recipes}),
            "models": self.models(),
            "datasets": self.datasets(),
        }

    def report_inputs(self) -> list[str]:
        """Everything that the report shows."""
        recipe = self.report_recipe()
        return [
            *(f"{self.results}/tables/{table}.json" for table in self.study.tables),
            *(path for table in self.study.tables for path in self.record_files(table)),
            *(
                f"{self.results}/{step}/log.jsonl"
                for steps in recipe["pretraining"].values()
                for step in steps
            ),
            *(f"{self.results}/corpora/{corpus}/stats.json" for corpus in recipe["corpora"]),
            *(f"{self.results}/vocabs/{vocab}/diagnosis.json" for vocab in recipe["vocabs"]),
            *(f"{self.results}/datasets/{dataset}/card.json" for dataset in recipe["datasets"]),
        ]

    def everything(self) -> list[str]:
        """The targets of a study."""
        return [self.report(), *(path for table in self.study.tables for path in self.table_files(table))]


def _whole(point: Mapping[Any, float]) -> dict[str, float]:
    """A grid point with its batch size as the integer it is."""
    return {key: int(value) if key == "batch_size" else value for key, value in point.items()}
