"""Jobs of a study and what they cost, estimated before anything runs: bytes, hours of processors and GPUs."""

import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import compress
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.stage_groups import TARGET
from pubmill.messages.wording import counted
from pubmill.optimisers import OPTIMISERS
from pubmill.recipes.finetuning import bytes_of_token, most_tokens
from pubmill.recipes.models import ArchivedWeights, ReleasedWeights
from pubmill.specs import RecipeWeights
from pubmill.stages import Graph, costs
from pubmill.stages.gpus import Gpus
from pubmill.stages.run_stages import TrialStage
from pubmill.stages.stage import ASSUMED, BlockStage, Seconds, TrainingStage, group_of, run_of, stages
from pubmill.storage.result_paths import Paths, RunKey


class LongestBatch(NamedTuple):
    """The largest batch of a protocol's search, with inputs of the maximum length, on models of one size.
    `length`: tokens of an input, None where it is the model's limit, which is not known yet."""

    protocol: str
    length: int | None
    inputs: int
    layers: int
    hidden: int
    parameters: int

    def parts(self, gpu: str, gpus: Gpus) -> int | None:
        """Return in how many parts, one after another, a GPU computes the batch; None if the model and a
        single input need more than its memory."""
        assert self.length is not None
        weights = gpus.weights[gpu]
        one = self.length * bytes_of_token(self.layers, self.hidden, weights)
        if one + OPTIMISERS["adamw"].training_bytes * self.parameters > gpus.memory[gpu]:
            return None
        at_once = most_tokens(gpus.memory[gpu], self.layers, self.hidden, weights) // self.length
        return -(-self.inputs // max(1, at_once))


def longest_batch(graph: Graph, run: RunKey) -> LongestBatch:
    """Return the largest batch that a run or its search computes, with inputs of `max_length`."""
    protocol, data = graph.specs.protocols[run.protocol], graph.specs.datasets[run.dataset]
    recipe, shape = graph.runs.recipe(run), costs.shape_of_model(graph, run.model)
    tried = protocol.grid(data, run.model, run.setting).get("batch_size", ())
    if isinstance(graph.specs.models[run.model].weights, RecipeWeights):
        positions: int | None = costs.architecture_of(graph, run.model).max_positions
    else:
        positions = graph.models.configuration(run.model).get("max_position_embeddings")
    limits = [one for one in (recipe.get("max_length", 512), positions) if one is not None]
    length, inputs = min(limits, default=None), max([recipe.get("batch_size", 0), *tried])
    parameters = costs.parameters_of_model(graph, run.model)
    return LongestBatch(run.protocol, length, inputs, shape.layers, shape.hidden, parameters)


def divided(batches: Iterable[LongestBatch], gpus: Gpus) -> list[tuple[LongestBatch, list[int | None]]]:
    """Return the batches that some GPU cannot compute at once, each with its number of parts on every GPU. Of
    the batches of one protocol and size of models, only the one with most tokens counts."""
    largest: dict[tuple[object, ...], LongestBatch] = {}
    for one in sorted(batches, key=lambda one: one.inputs * (one.length or 0)):
        if one.length is not None:
            largest[one.protocol, one.layers, one.hidden, one.parameters] = one
    by_gpu = [(one, [one.parts(gpu, gpus) for gpu in gpus.memory]) for one in sorted(largest.values())]
    return [(one, parts) for one, parts in by_gpu if set(parts) - {1}]


ADVICE = (
    "  fewer: --search own tries only your own models,",
    "         --choice lr=3e-5,batch=32,epochs=20 searches nothing;",
    "         such cells are not compared with published values",
)


@dataclass(frozen=True)
class Job:
    """A job of a rule; `to_do` is false if its output exists and matches its recipe. `text`: what it does;
    `reason`: why it runs, in Snakemake's words."""

    rule: str
    wildcards: Mapping[str, str]
    to_do: bool
    text: str = ""
    reason: str = ""

    @property
    def named_wildcards(self) -> SimpleNamespace:
        """The wildcards as a stage takes them: as attributes."""
        return SimpleNamespace(**self.wildcards)


@dataclass
class Training:
    """Training jobs of one kind: their number and operations. `at_peak`: operations that a GPU at its peak
    would do in the time that they take. `unknown` counts the jobs whose operations are unknown."""

    name: str
    jobs: int = 0
    unknown: int = 0
    operations: float = 0.0
    at_peak: float = 0.0

    def add(self, operations: float | None, share: float, jobs: int = 1) -> None:
        """Add jobs with so many operations together, that reach this share of a GPU's peak."""
        self.jobs += jobs
        self.unknown += jobs if operations is None else 0
        self.operations += operations or 0.0
        self.at_peak += (operations or 0.0) / share


@dataclass
class Plan:
    """Jobs that a study still has to run, by rule, and what they need. `there`: jobs of each rule whose
    output exists. `each`: rule -> seconds of one of its jobs; of trainings, only measured ones. `bytes_known`
    and `bytes_assumed` will be downloaded, and `files_unknown` files of unknown size; `disk` is an assumed
    number of bytes. `saved`: the pretrainings that released weights replace. `batches`: the largest of each
    fine-tuning."""

    to_do: Counter[str] = field(default_factory=Counter)
    there: Counter[str] = field(default_factory=Counter)
    each: dict[str, Seconds] = field(default_factory=dict)
    bytes_known: float = 0.0
    bytes_assumed: float = 0.0
    files_unknown: int = 0
    disk: float = 0.0
    pretraining: dict[str, Training] = field(default_factory=dict)
    finetuning: dict[str, Training] = field(default_factory=dict)
    saved: list[Training] = field(default_factory=list)
    runs_there: list[str] = field(default_factory=list)
    batches: set[LongestBatch] = field(default_factory=set)

    @property
    def trainings(self) -> list[Training]:
        """All trainings to do, by kind."""
        return [*self.pretraining.values(), *self.finetuning.values()]

    def seconds(self, rule: str) -> float | None:
        """Return the seconds of one core that the jobs of a rule need; None if they train a model."""
        trains = rule in stages() and issubclass(stages()[rule], TrainingStage)
        return None if trains or rule not in self.each else self.to_do[rule] * self.each[rule].seconds


def make_plan(jobs: Iterable[Job], graph: Graph, gpus: Gpus) -> Plan:
    """Add up what the jobs that still have to run need."""
    saved = pretrainings(graph, gpus, _steps_behind_released(graph), graph.scope.last_steps())
    plan, measured = Plan(saved=saved), measured_seconds(graph.paths)
    batch_of = cache(partial(longest_batch, graph))
    for job in jobs:
        stage = graph.stage(stages()[job.rule]) if job.rule in stages() else None
        trains = isinstance(stage, TrainingStage)
        if not job.to_do:
            plan.there[job.rule] += 1
            if isinstance(stage, TrainingStage) and stage.use == "finetuning":
                plan.runs_there.append("/".join(job.wildcards.values()))
            continue
        plan.to_do[job.rule] += 1
        assumed = None if trains else stage.seconds if stage else ASSUMED
        if assumed and isinstance(stage, BlockStage):
            assumed = Seconds(assumed.seconds * graph.specs.scale.block_files, assumed.source)
        if job.rule not in plan.each and (known := measured(job.rule) or assumed):
            plan.each[job.rule] = known
        wildcards = job.named_wildcards
        if isinstance(stage, TrainingStage):
            lines = plan.pretraining if stage.use == "pretraining" else plan.finetuning
            line = lines.setdefault(name := stage.plan_line.format_map(job.wildcards), Training(name))
            line.add(stage.operations(wildcards), stage.share(wildcards, gpus))
            if stage.use == "finetuning":
                plan.batches.add(batch_of(run_of(wildcards)))
        if stage:
            needed = stage.bytes_of(wildcards)
            plan.bytes_known += needed.known
            plan.bytes_assumed += needed.assumed
            plan.files_unknown += needed.unknown
            plan.disk += needed.disk
    return plan


def pretrainings(
    graph: Graph, gpus: Gpus, steps: Mapping[str, int], done: Mapping[str, int]
) -> list[Training]:
    """Return the pretrainings up to these steps, by recipe; `done`: steps that are not counted any more."""
    trainings = []
    for name, last in steps.items():
        first = max(costs.first_step(graph, name), done.get(name, 0))
        if last > first:
            segments = sum(first < step <= last for step in graph.pretrainings.steps(name))
            training = Training(name)
            needed = costs.operations_of_pretraining(graph, name, first, last)
            training.add(needed, costs.share_of_pretraining(graph, gpus, name), segments)
            trainings.append(training)
    return trainings


def _steps_behind_released(graph: Graph) -> dict[str, int]:
    """Return recipe -> last step needed: recipes of the study's released models, and those they depend on."""
    models = graph.scope.models()
    is_released = [isinstance(graph.models.weights(one), ReleasedWeights | ArchivedWeights) for one in models]
    own = [graph.specs.models[model].weights for model in compress(models, is_released)]
    trained = [one for one in own if isinstance(one, RecipeWeights) and one.kind == "pretraining"]
    return graph.pretrainings.last_steps([(one.recipe, one.step) for one in trained], released=True)


def recipes_at_full(graph: Graph, gpus: Gpus) -> list[Training]:
    """Return one training for each pretraining recipe, from its first to its last step."""
    steps = {name: spec.recipe.steps for name, spec in graph.specs.pretraining.items()}
    return pretrainings(graph, gpus, steps, {})


def hours(trainings: Iterable[Training], gpus: Gpus) -> dict[str, float]:
    """Return the hours of one GPU of each type for all trainings together."""
    return gpus.hours(sum(one.at_peak for one in trainings), share=1.0)


def measured_seconds(paths: Paths) -> Callable[[str], Seconds | None]:
    """Return a function from a rule to the mean seconds of its finished jobs here; None without any."""
    folder = Path(paths.at("benchmarks"))

    @cache
    def of_rule(rule: str) -> Seconds | None:
        seconds = []
        for path in sorted((folder / rule).rglob("*.tsv")):
            with path.open(encoding="utf-8", newline="") as lines:
                rows = list(csv.DictReader(lines, delimiter="\t"))
            try:
                seconds.append(fmean(float(row["s"]) for row in rows))
            except (KeyError, TypeError, ValueError):
                raise PubmillError(
                    f"{path}: expected Snakemake's table of a benchmark, with seconds in column `s`; remove "
                    "the file"
                ) from None
        if not seconds:
            return None
        return Seconds(fmean(seconds), f"measured: mean of {len(seconds):,} jobs in {folder / rule}")

    return of_rule


def search_lines(jobs: Iterable[Job], graph: Graph) -> list[str]:
    """Return lines on the hyper-parameter search: how many jobs to do are trials or choices, for which
    models, and which options of `pubmill table` reduce them; no lines without trials."""
    to_do = [job for job in jobs if job.to_do]
    trials = Counter(job.wildcards["model"] for job in to_do if job.rule == TrialStage.name)
    if not trials:
        return []
    searching = sum(group_of(job.rule) == TrialStage.group for job in to_do)
    models = graph.specs.models
    *first, last = (models[name].label or name for name, _ in trials.most_common())
    named = f"{', '.join(first)} and {last}" if first else last
    line = f"{searching:,} of {counted(len(to_do), 'job')}: trials with {named}"
    return [line, *(ADVICE if graph.study.own_tables and graph.study.search == "protocol" else ())]


def jobs_of_study(
    root: Path,
    config: Mapping[str, Any],
    targets: Sequence[str] = (),
    options: Sequence[str] = (),
    finished: bool = False,
) -> list[Job]:
    """Return the jobs to do behind the targets, by the whole configuration of a study; without targets, those
    of the whole study. `options`: further ones of Snakemake; `finished`: return finished jobs too. Raise a
    `PubmillError` with Snakemake's message if the graph cannot be built."""
    with TemporaryDirectory(prefix="pubmill-jobs-") as folder:
        merged = Path(folder) / "config.json"
        merged.write_text(json.dumps(config, default=str), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "--logger=pubmill", *targets]
        command += ["--dry-run", "--snakefile", str(root / "Snakefile"), "--configfile", str(merged)]
        command += [*([] if "--profile" in options else ["--profile", commands.profile()]), *options]
        started = [_start(command), *([_start([*command, "--forceall"])] if finished else [])]
        to_do, *every = [_jobs(process) for process in started]
    known = {(job.rule, *job.wildcards.values()) for job in to_do}
    there = (job for jobs in every for job in jobs if (job.rule, *job.wildcards.values()) not in known)
    return [*to_do, *(Job(job.rule, job.wildcards, False, job.text) for job in there)]


def _start(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _jobs(process: subprocess.Popen[str]) -> list[Job]:
    printed, errors = process.communicate()
    if process.returncode:
        raise PubmillError(errors.rpartition("pubmill: error: ")[2].strip())
    found = (json.loads(line) for line in printed.splitlines() if line.startswith("{"))
    return [
        Job(one["rule"], one["wildcards"], True, one["text"], one["reason"])
        for one in found
        if one["rule"] != TARGET
    ]
