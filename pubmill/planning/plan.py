"""Cost of a study, estimated before anything runs: jobs, bytes, and hours of processors and GPUs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pubmill.graph import Graph
from pubmill.planning import costs
from pubmill.planning.gpus import Gpus
from pubmill.planning.job import Job
from pubmill.recipes.models import ArchivedWeights, ReleasedWeights
from pubmill.specs import RecipeWeights
from pubmill.specs.pretraining_checks import needed_before
from pubmill.storage.sources import path_in_mirror

STAGES = {
    "sources": ("download", "take_local", "pin_weights", "plan_pmc", "fetch_pmc"),
    "corpora": (
        "parse_medline", "parse_text", "parse_clinical", "parse_pmc", "latest_versions", "locked_versions",
        "lock_corpus", "fingerprint", "find_duplicates", "select_documents", "corpus_statistics",
        "index_evaluation_texts", "find_contamination", "contamination", "document_years",
    ),
    "vocabularies": ("count_words", "train_vocab", "take_vocab", "vocab_diagnosis"),
    "pretraining": ("pack", "pretrain", "export_model", "take_model"),
    "datasets": ("convert", "concepts", "floors", "dataset_page"),
    "fine-tuning": (
        "trial", "choose", "choose_for_model", "task_model", "finetune", "annotate", "take_predictions",
        "transfer",
    ),
    "tables": (
        "score", "score_annotation", "score_predictions", "table", "compare", "overlap", "transfer_matrix",
        "fact_table", "contradictions", "audit", "report", "checklist", "crate", "basis", "proof",
    ),
}  # fmt: skip
"""Stage -> its rules; a rule that is not listed belongs to the stage `other`."""
STAGE_OF = {rule: stage for stage, rules in STAGES.items() for rule in rules}
TRAINED = ("trial", "task_model", "finetune")


@dataclass
class Training:
    """Training jobs of one kind: their number, their operations, and the share of a GPU's peak they reach.

    `unknown` counts the jobs whose operations are unknown.
    """

    name: str
    share: float
    jobs: int = 0
    unknown: int = 0
    operations: float = 0.0


@dataclass
class Plan:
    """Jobs that a study still has to run, and what they need.

    `there`: jobs of each stage whose output exists. `bytes_known` and `bytes_assumed` will be downloaded, and
    `files_unknown` files of unknown size; `disk` is an assumed number of bytes. `saved`: the
    pretrainings that released weights replace.
    """

    to_do: Counter[str] = field(default_factory=Counter)
    there: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    sources: dict[str, set[str]] = field(default_factory=dict)
    bytes_known: float = 0.0
    bytes_assumed: float = 0.0
    files_unknown: int = 0
    disk: float = 0.0
    pretraining: dict[str, Training] = field(default_factory=dict)
    finetuning: dict[str, Training] = field(default_factory=dict)
    saved: list[Training] = field(default_factory=list)
    runs_there: list[str] = field(default_factory=list)


def make_plan(jobs: Iterable[Job], graph: Graph, gpus: Gpus) -> Plan:
    """Add up what the jobs that still have to run need."""
    plan = Plan(saved=pretrainings_saved(graph, gpus))
    for job in jobs:
        stage = STAGE_OF.get(job.rule, "other")
        if not job.to_do:
            plan.there[stage] += 1
            if job.rule in TRAINED:
                plan.runs_there.append("/".join(job.wildcards.values()))
            continue
        plan.to_do[stage] += 1
        if job.rule == "pretrain":
            _add_pretraining(plan, job, graph, gpus)
        elif job.rule in TRAINED:
            _add_finetuning(plan, job, graph, gpus)
        else:
            _add_processor(plan, job, stage)
        _add_bytes(plan, job, graph)
    return plan


def _add_processor(plan: Plan, job: Job, stage: str) -> None:
    known = costs.RULES.get(job.rule, costs.ASSUMED)
    plan.seconds[stage] = plan.seconds.get(stage, 0.0) + known.seconds
    plan.sources.setdefault(stage, set()).add(known.source)


def _add_pretraining(plan: Plan, job: Job, graph: Graph, gpus: Gpus) -> None:
    name, step = job.wildcards["recipe"], int(job.wildcards["step"])
    share = costs.share_of_pretraining(graph, gpus, name)
    training = plan.pretraining.setdefault(name, Training(name, share))
    training.jobs += 1
    training.operations += costs.operations_of_segment(graph, name, step)


def _add_finetuning(plan: Plan, job: Job, graph: Graph, gpus: Gpus) -> None:
    protocol, model, dataset, setting = (
        job.wildcards[key] for key in ("protocol", "model", "dataset", "setting")
    )
    name = f"{protocol}, {'trials' if job.rule == 'trial' else 'runs'}"
    share = costs.share_of_finetuning(graph, gpus, model)
    training = plan.finetuning.setdefault(name, Training(name, share))
    training.jobs += 1
    trial = job.wildcards.get("trial")
    needed = costs.operations_of_finetuning(graph, protocol, model, dataset, setting, trial)
    training.operations += needed or 0
    training.unknown += needed is None


def _add_bytes(plan: Plan, job: Job, graph: Graph) -> None:
    """Add the bytes that a job downloads, and those that it leaves on disk."""
    if job.rule == "download":
        url = f"https://{job.wildcards['path']}"
        size, assumed = _mirrored_bytes(url, graph.study.mirror), costs.bytes_of_url(graph, url)
        plan.bytes_known += size or 0
        plan.bytes_assumed += (assumed or 0) if size is None else 0
        plan.files_unknown += size is None and assumed is None
        plan.disk += size or assumed or 0
    elif job.rule in ("export_model", "take_model"):
        model = job.wildcards["model"]
        from_hub = isinstance(graph.models.weights(model), ReleasedWeights)
        plan.bytes_assumed += costs.bytes_of_model(graph, model) if from_hub else 0
        plan.disk += costs.bytes_of_model(graph, model)
    elif job.rule == "pretrain":
        name = job.wildcards["recipe"]
        plan.disk += costs.bytes_of_checkpoint(graph, name)
    elif job.rule == "task_model":
        plan.disk += costs.bytes_of_model(graph, job.wildcards["model"])
    elif job.rule == "pack":
        plan.disk += costs.PACKED * len(graph.corpora.shards(job.wildcards["corpus"]))
    else:
        plan.disk += costs.BYTES.get(job.rule, 0)
        plan.bytes_assumed += costs.BYTES["fetch_pmc"] if job.rule == "fetch_pmc" else 0


def _mirrored_bytes(url: str, mirror: str | None) -> int | None:
    """Return the bytes of a file in the mirror; None if the mirror does not have it."""
    path: Path | None = path_in_mirror(url, mirror)
    return path.stat().st_size if path and path.is_file() else None


def pretrainings_saved(graph: Graph, gpus: Gpus) -> list[Training]:
    """Return the pretrainings that the study would need if its models' weights had not been released."""
    needed, saved = graph.scope.last_steps(), []
    for name, last in _steps_behind_released(graph).items():
        first = max(costs.first_step(graph, name), needed.get(name, 0))
        if last > first:
            segments = sum(first < step <= last for step in graph.pretrainings.steps(name))
            operations = costs.operations_of_pretraining(graph, name, first, last)
            share = costs.share_of_pretraining(graph, gpus, name)
            saved.append(Training(name, share, segments, 0, operations))
    return saved


def _steps_behind_released(graph: Graph) -> dict[str, int]:
    """Recipes of the study's released models and those that run before them -> the last step needed."""
    specs, found = graph.specs.models, dict[str, int]()
    sources = {name: graph.models.weights(name) for name in graph.scope.models()}
    released = [name for name, one in sources.items() if isinstance(one, ReleasedWeights | ArchivedWeights)]
    own = [specs[name].weights for name in released]
    trained = [one for one in own if isinstance(one, RecipeWeights) and one.kind == "pretraining"]
    waiting = [(one.recipe, one.step) for one in trained]
    while waiting:
        name, step = waiting.pop()
        found[name] = max(step or graph.pretrainings.steps(name)[-1], found.get(name, 0))
        before = needed_before(graph.specs.pretraining[name], specs, released=True)
        waiting += [(one.recipe, one.step) for one in before]
    return dict(sorted(found.items()))


def recipes_at_full(graph: Graph, gpus: Gpus) -> list[Training]:
    """Return one training for each pretraining recipe, from its first to its last step."""
    found = []
    for name, spec in graph.specs.pretraining.items():
        first = costs.first_step(graph, name)
        share = costs.share_of_pretraining(graph, gpus, name)
        needed = costs.operations_of_pretraining(graph, name, first, spec.recipe.steps)
        found.append(Training(name, share, len(spec.checkpoints), 0, needed))
    return found


def hours(trainings: Sequence[Training], gpus: Gpus) -> dict[str, float]:
    """Return the hours of one GPU of each type for all trainings together."""
    each = [gpus.hours(training.operations, training.share) for training in trainings]
    return {name: sum(found[name] for found in each) for name in gpus.peaks}
