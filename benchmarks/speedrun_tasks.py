"""Fine-tuning of the models of the PubMed speedrun on four datasets, by the protocol of the study speedrun.

The scores are in speedrun/tasks.json. The models of a record are taken in turn, so that seeds differ in their
pretraining too.
"""

from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.speedrun_queue import Records, SpeedQueue, baseline_phases
from benchmarks.speedrun_rules import FOLDER
from pubmill.errors import PubmillError
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.run import finetune_or_fail, write_outcome
from pubmill.metrics import SCORERS
from pubmill.metrics.records import score_run
from pubmill.pretraining.export import export
from pubmill.recipes import FinetuningRecipe, PretrainingRecipe
from pubmill.recipes.models import ExportRecipe, PretrainedWeights, RandomWeights
from pubmill.recipes.reading import build
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.specs import load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.storage.files import read_json, write_json
from pubmill.storage.result_paths import RunKey

SCORES = FOLDER / "tasks.json"
SPECS = Path(__file__).resolve().parents[1] / "specs"
UNTRAINED = "untrained"


class TaskModel(NamedTuple):
    """A model of a record and seed, with the recipe of its last phase, the number of its phases and its step;
    without phases it has random weights."""

    place: str
    seed: int
    recipe: PretrainingRecipe
    phases: int
    step: int

    @property
    def key(self) -> str:
        return f"models/{self.place}/{self.seed}"


class TaskRun(NamedTuple):
    """A fine-tuning: a model, a dataset and a seed."""

    model: TaskModel
    dataset: str
    seed: int

    @property
    def key(self) -> str:
        return f"tasks/{self.model.place}/{self.dataset}/{self.seed}"


class TaskScore(StrictRecipe):
    """The score on test of a fine-tuning, of the model of a record (`place`: DIVISION/NAME); None if it
    failed. `processor`: the GPU, or else the CPU."""

    place: str
    dataset: str
    seed: int
    pretraining_seed: int
    metric: str
    score: float | None
    dev_score: float | None
    seconds: float
    processor: str
    commit: str | None


def read_scores() -> list[TaskScore]:
    found = read_json(SCORES)["scores"] if SCORES.is_file() else []
    return [build(TaskScore, values, str(SCORES)) for values in found]


def add_scores(scores: Iterable[TaskScore]) -> None:
    """Add scores to the file, which also has the recipe of each dataset."""
    known = {(one.place, one.dataset, one.seed): one for one in [*read_scores(), *scores]}
    recipes = {dataset: asdict(recipes_of(dataset)[0]) for dataset in sorted({key[1] for key in known})}
    write_json(SCORES, {"recipes": recipes, "scores": [asdict(one) for _, one in sorted(known.items())]})


def missing(queue: SpeedQueue, records: Records) -> list[TaskRun]:
    """Return the fine-tunings of the queue that have no score, longest first."""
    known = {(one.place, one.dataset, one.seed) for one in read_scores()}
    return [
        TaskRun(models[(seed - 1) % len(models)], dataset, seed)
        for dataset in queue.tasks["datasets"]
        for seed in range(1, queue.tasks["seeds"] + 1)
        for place in queue.tasks["models"]
        if (models := models_of(place, queue, records)) and (place, dataset, seed) not in known
    ]


def possible(model: TaskModel, folder: Path) -> bool:
    """Return whether a model is in the folder, or can be written from the saves there."""
    return not model.phases or (folder / model.key).is_dir() or _last_save(model, folder).is_dir()


def _last_save(model: TaskModel, folder: Path) -> Path:
    return folder / model.place / str(model.seed) / f"phase-{model.phases - 1}" / f"step-{model.step}"


def models_of(place: str, queue: SpeedQueue, records: Records) -> list[TaskModel]:
    """Return the models of a record, by seed; `UNTRAINED`: those of the baseline without training."""
    if place == UNTRAINED:
        values = baseline_phases(queue, records)[-1]["recipe"] | {"steps": 1}
        recipes = [build(PretrainingRecipe, values | {"seed": seed}, place) for seed in (1, 2, 3)]
        return [TaskModel(place, recipe.seed, recipe, 0, 0) for recipe in recipes]
    division, _, name = place.partition("/")
    if (division, name) not in records:
        raise PubmillError(f"{place} has no record yet; run `queue` before `tasks`")
    return [
        TaskModel(
            place, run.seed, build(PretrainingRecipe, run.recipe[-1], place), len(run.recipe), run.steps
        )
        for run in records[division, name].runs
    ]  # fmt: skip


def export_model(model: TaskModel, results: Path, folder: Path) -> None:
    """Write the model's folder, from the saves of its run."""
    output = folder / model.key
    if output.is_dir():
        return
    name = model.place.replace("/", "-")
    weights = PretrainedWeights(recipe=name, step=model.step) if model.phases else RandomWeights(recipe=name)
    recipe = ExportRecipe(
        model=f"speedrun-{name}", lowercase=True, weights=weights, pretraining=model.recipe, scale="speedrun",
        seed=model.seed,
    )  # fmt: skip
    last = _last_save(model, folder)
    output.parent.mkdir(parents=True, exist_ok=True)
    export(recipe, output, last if model.phases else None, results / "speedrun/vocabs/speedrun")


@cache
def recipes_of(dataset: str) -> tuple[FinetuningRecipe, ScoringRecipe]:
    """Return the recipes of a dataset at the scale speedrun, by the protocol blurb."""
    graph = Graph(Study(study="speedrun", title="", scale="speedrun", tables=()), load(SPECS, "speedrun"))
    run = RunKey("blurb", "speedrun-untrained", dataset, "standard")
    recipe = build(FinetuningRecipe, graph.runs.recipe(run), dataset)
    return recipe, graph.records.scoring_recipe(run)


def fine_tune(run: TaskRun, results: Path, folder: Path) -> None:
    """Fine-tune, predict test, score it, and write the score, unless that is there."""
    if (folder / run.key / "score.json").is_file():
        return
    recipe, scoring = recipes_of(run.dataset)
    data, place = results / "speedrun/datasets" / run.dataset, folder / run.key
    predictions, training = place / "test.predictions.jsonl.gz", place / "test.training.json"
    place.mkdir(parents=True, exist_ok=True)
    job = FinetuningJob(recipe, folder / run.model.key, data, run.seed, "test", "dev")
    write_outcome(finetune_or_fail(job), job, predictions, None)
    scorer, wanted = SCORERS[scoring.kind], replace(scoring, model=str(run.model.seed), seed=run.seed)
    record, _ = score_run(wanted, scorer, predictions, data / "test.jsonl.gz", training)
    report = read_json(training)
    score = TaskScore(
        place=run.model.place, dataset=run.dataset, seed=run.seed, pretraining_seed=run.model.seed,
        metric=scoring.metric, score=record.metrics[scoring.metric] if record.metrics else None,
        dev_score=record.dev_score, seconds=report["seconds"], commit=report["commit"],
        processor=[*report["hardware"]["gpus"], report["hardware"]["cpu"]][0],
    )  # fmt: skip
    write_json(place / "score.json", asdict(score))


def read_score(run: TaskRun, folder: Path) -> TaskScore:
    path = folder / run.key / "score.json"
    return build(TaskScore, read_json(path), str(path))
