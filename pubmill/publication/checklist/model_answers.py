"""Answers on models, machines, time and scores."""

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from pubmill.metrics import METRICS
from pubmill.metrics.records import Record
from pubmill.publication.checklist.checklist_answers import ChecklistAnswer, grid, value_text
from pubmill.publication.checklist.evidence import StudyData
from pubmill.publication.rendering import count, duration, metric, number
from pubmill.recipes.models import (
    ArchivedWeights,
    LocalWeights,
    ModelWeights,
    PipelineWeights,
    PretrainedWeights,
    RandomWeights,
    ReleasedWeights,
)
from pubmill.tables.aggregation import machine

NO_WEIGHTS = "weights not at hand when this was written"
FROZEN = "the version of the first download, which the model's card states"


def description(study: StudyData) -> ChecklistAnswer:
    """Each model's weights, and the citations of the protocols by which it is fine-tuned."""
    rows = (
        (model.label or name, _weights_text(model.weights), model.citation or "none given")
        for name, model in study.recipe.models.items()
    )
    protocols = (f"Protocol {name}: {one.citation}" for name, one in study.recipe.protocols.items())
    return ChecklistAnswer("specified", tuple(protocols), grid(("Model", "Weights", "Citation"), rows))


def _weights_text(weights: ModelWeights | PipelineWeights) -> str:
    match weights:
        case ReleasedWeights():
            return f"released: {weights.id} at {weights.revision or FROZEN}"
        case ArchivedWeights():
            version = f"sha256 {weights.sha256}" if weights.sha256 else FROZEN
            return f"released: {weights.url}, {version}"
        case PretrainedWeights():
            return f"pretrained here: recipe {weights.recipe}, step {weights.step}"
        case RandomWeights():
            return f"freshly initialised: the architecture of {weights.recipe}"
        case LocalWeights() | PipelineWeights():
            what = "a folder" if isinstance(weights, LocalWeights) else "a spaCy pipeline"
            return f"{what} of the user's own ({weights.local})"


def code(study: StudyData) -> ChecklistAnswer:
    """Commits, Python and packages of the runs."""
    commits = sorted({record.commit or "none recorded" for record in study.records})
    pythons = sorted({record.python for record in study.records})
    packages = sorted(
        {f"{name} {version}" for record in study.records for name, version in record.packages.items()}
    )
    text = (
        "pubmill, Apache License 2.0; requirements/lock.txt of the checkout pins every package with its "
        "hash.",
        f"Commits that runs were made with: {value_text(commits)}.",
        f"Python {value_text(pythons)}. {value_text(packages)}.",
    )
    return ChecklistAnswer("measured", text if study.records else text[:1])


def machines(study: StudyData) -> ChecklistAnswer:
    """The distinct machines of fine-tuning and pretraining."""
    of_runs: dict[str, int] = {}
    for record in study.records:
        of_runs[machine(record.hardware)] = of_runs.get(machine(record.hardware), 0) + 1
    rows = [(name, f"{count(runs)} runs") for name, runs in of_runs.items()]
    rows += [(name, f"pretraining {one.name}") for one in study.pretrainings for name in one.machines]
    return ChecklistAnswer(
        "measured", () if rows else ("Nothing was run.",), grid(("Machine", "Used for"), rows)
    )


def runtime(study: StudyData) -> ChecklistAnswer:
    """Mean and total duration of runs, by model, and of pretrainings."""
    by_model: dict[str, list[float]] = {}
    for record in study.records:
        by_model.setdefault(record.model, []).append(record.seconds)
    rows = [
        (
            f"fine-tuning {_model_label(study, name)}",
            count(len(seconds)),
            duration(fmean(seconds)),
            duration(sum(seconds)),
        )
        for name, seconds in by_model.items()
    ]
    rows += [
        (f"pretraining {one.name}", "1", duration(one.seconds), duration(one.seconds))
        for one in study.pretrainings
    ]
    text = ("From reading the data to the last prediction; trials of the search are not in it.",)
    return ChecklistAnswer("measured", text, grid(("What", "Runs", "Mean", "In all"), rows))


def energy(study: StudyData) -> ChecklistAnswer:
    return ChecklistAnswer(
        "unknown", ("It was not measured; machines and times above are what an estimate can begin with.",)
    )


def parameters(study: StudyData) -> ChecklistAnswer:
    """Number of parameters in the stored weights."""
    rows = (
        (_model_label(study, name), count(number_of) if number_of is not None else NO_WEIGHTS)
        for name, number_of in study.parameters.items()
    )
    text = ("Counted in the stored weights, heads of pretraining included; a task's own head comes on top.",)
    return ChecklistAnswer("measured", text, grid(("Model", "Parameters"), rows))


def validation(study: StudyData) -> ChecklistAnswer:
    """Mean dev and test score of each model on each dataset, over the runs that did not fail."""
    rows = [
        (
            _model_label(study, model), dataset, f"{protocol}, {setting}", metric(found[0].metric),
            _mean_text([one.dev_score for one in found]),
            _mean_text([(one.metrics or {}).get(one.metric) for one in found]),
            f"{sum(one.failed is None for one in found)} of {len(found)}",
        )
        for (protocol, setting, dataset, model), found in _by_cell(study.trained).items()
    ]  # fmt: skip
    headings = ("Model", "Dataset", "Protocol, setting", "Metric", "Validation", "Test", "Runs")
    text = (
        "Means over runs, times 100. Where there is no validation score, no split was left to choose by. "
        "The score on validation is the trainer's own, at its best.",
    )
    return ChecklistAnswer("measured", text if rows else ("Nothing was fine-tuned.",), grid(headings, rows))


def _by_cell(records: list[Record]) -> dict[tuple[str, str, str, str], list[Record]]:
    found: dict[tuple[str, str, str, str], list[Record]] = {}
    for one in records:
        found.setdefault((one.protocol, one.setting, one.dataset, one.model), []).append(one)
    return found


def _mean_text(scores: list[float | None]) -> str:
    known = [score for score in scores if score is not None]
    return number(100 * fmean(known)) if known else "none"


def metrics(study: StudyData) -> ChecklistAnswer:
    """The definition of each metric of the study."""
    used = dict.fromkeys(
        row.metric
        for table in study.tables.values()
        for row, _, cell in table.read()
        if cell.seeds and row.metric in METRICS
    )
    rows = ((METRICS[name].label, METRICS[name].definition) for name in used)
    text = ("Computed by pubmill/metrics from gold and predictions; docs/finetuning.md has their sources.",)
    return ChecklistAnswer("specified", text, grid(("Metric", "Definition"), rows))


def limits(study: StudyData) -> ChecklistAnswer:
    """The scale, cells without a score, failed runs, and the protocols' assumptions."""
    return ChecklistAnswer("measured and specified", tuple(_limitations(study)))


def _limitations(study: StudyData) -> Iterator[str]:
    if not study.recipe.comparable:
        yield f"Scale {study.recipe.scale}: {study.recipe.scale_title}."
    for name, table in study.tables.items():
        cells = [cell for _, _, cell in table.read()]
        empty = sum(cell.value is None for cell in cells)
        yield f"{name}: {empty} of {len(cells)} cells have no score of ours; the table says why of each."
    failed = [record for record in study.records if record.failed is not None]
    yield f"{len(failed)} of {len(study.records)} runs failed, which their cells show."
    for name, protocol in study.recipe.protocols.items():
        yield from (f"Protocol {name}: {note}" for note in protocol.notes)


def risks(study: StudyData) -> ChecklistAnswer:
    texts = (
        "Which risks there are is for the authors to say. Models fine-tuned here make mistakes at the rates "
        "above and were examined on these test sets alone; none is fit to decide on a patient.",
    )
    return ChecklistAnswer("unknown", texts)


def assistants(study: StudyData) -> ChecklistAnswer:
    return ChecklistAnswer("unknown", ("Nothing that pubmill records tells it.",))


def _model_label(study: StudyData, model: str) -> str:
    known: Mapping[str, Any] = study.recipe.models
    return known[model].label or model if model in known else model
