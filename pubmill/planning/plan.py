"""Cost of a study, estimated before anything runs: jobs, bytes, hours of processors and GPUs, search."""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace

from pubmill.errors import PubmillError
from pubmill.messages.wording import counted
from pubmill.planning.batch_plan import LongestBatch, longest_batch
from pubmill.recipes.models import ArchivedWeights, ReleasedWeights
from pubmill.specs import RecipeWeights
from pubmill.specs.pretraining_checks import needed_before
from pubmill.stages import Graph, costs
from pubmill.stages.all_stages import group_of, stages
from pubmill.stages.gpus import Gpus
from pubmill.stages.run_stages import TrialStage
from pubmill.stages.stage import ASSUMED, Seconds, TrainingStage, run_of
from pubmill.storage.result_paths import Paths

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
        assumed = None if trains else stage.seconds_of_job if stage else ASSUMED
        if job.rule not in plan.each and (known := measured(job.rule) or assumed):
            plan.each[job.rule] = known
        wildcards = job.named_wildcards
        if isinstance(stage, TrainingStage):
            lines = plan.pretraining if stage.use == "pretraining" else plan.finetuning
            line = lines.setdefault(name := stage.plan_line(wildcards), Training(name))
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
    specs, steps = graph.specs.models, dict[str, int]()
    sources = {name: graph.models.weights(name) for name in graph.scope.models()}
    released = [name for name, one in sources.items() if isinstance(one, ReleasedWeights | ArchivedWeights)]
    own = [specs[name].weights for name in released]
    trained = [one for one in own if isinstance(one, RecipeWeights) and one.kind == "pretraining"]
    waiting = [(one.recipe, one.step) for one in trained]
    while waiting:
        name, step = waiting.pop()
        steps[name] = max(step or graph.pretrainings.steps(name)[-1], steps.get(name, 0))
        before = needed_before(graph.specs.pretraining[name], specs, released=True)
        waiting += [(one.recipe, one.step) for one in before]
    return dict(sorted(steps.items()))


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
