"""Answers on models, machines, time and scores, and on runs and hyper-parameters."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from pandas import Series

from pubmill.extras.checklist.checklist_evidence import ChecklistAnswer, StudyData, grid, name_of, value_text
from pubmill.metrics import METRICS
from pubmill.recipes import models
from pubmill.report.rendering import count, duration, metric, number
from pubmill.storage.names_in_paths import choice_of
from pubmill.tables.aggregation import machine

NO_WEIGHTS = "weights not available when this was written"
NOTHING = "Nothing was searched: every value is given by the protocol."
FROZEN = "the version of the first download, which the model's card states"


def description(study: StudyData) -> ChecklistAnswer:
    """Each model's weights, and the citations of the protocols by which it is fine-tuned."""
    rows = (
        (model.label or name, _weights_text(model.weights), model.citation or "none given")
        for name, model in study.recipe.models.items()
    )
    protocols = (f"Protocol {name}: {one.citation}" for name, one in study.recipe.protocols.items())
    return ChecklistAnswer("specified", tuple(protocols), grid(("Model", "Weights", "Citation"), rows))


def _weights_text(weights: models.ModelWeights | models.NotTuned) -> str:
    match weights:
        case models.ReleasedWeights():
            return f"released: {weights.id} at {weights.revision or FROZEN}"
        case models.ArchivedWeights():
            version = f"sha256 {weights.sha256}" if weights.sha256 else FROZEN
            return f"released: {weights.url}, {version}"
        case models.PretrainedWeights():
            return f"pretrained here: recipe {weights.recipe}, step {weights.step}"
        case models.RandomWeights():
            return f"freshly initialised: the architecture of {weights.recipe}"
        case models.SuppliedWeights():
            system = weights.system
            return f"not fine-tuned here: predictions of {system.name}, version {system.version}"
        case models.LocalWeights() | models.PipelineWeights():
            what = "a folder" if isinstance(weights, models.LocalWeights) else "a spaCy pipeline"
            return f"{what} of the user's own ({weights.local})"


def code(study: StudyData) -> ChecklistAnswer:
    """Commits, Python and packages of the runs."""
    records = study.records
    commits = sorted(records["commit"].fillna("none recorded").unique())
    pythons = sorted(records["python"].unique())
    packages = sorted({f"{name} {version}" for used in records["packages"] for name, version in used.items()})
    text = (
        "pubmill, Apache License 2.0; requirements/lock.txt of the checkout pins every package with its "
        "hash.",
        f"Commits of the runs: {value_text(commits)}.",
        f"Python {value_text(pythons)}. {value_text(packages)}.",
    )
    return ChecklistAnswer("measured", text if len(records) else text[:1])


def machines(study: StudyData) -> ChecklistAnswer:
    """The distinct machines of fine-tuning and pretraining."""
    runs = study.records.groupby(study.records["hardware"].map(machine), sort=False).size()
    rows = [(name, f"{count(number_of)} runs") for name, number_of in runs.items()]
    rows += [(name, f"pretraining {one.name}") for one in study.pretrainings for name in one.machines]
    text = () if rows else ("Nothing was run.",)
    return ChecklistAnswer("measured", text, grid(("Machine", "Used for"), rows))


def runtime(study: StudyData) -> ChecklistAnswer:
    """Mean and total duration of runs, by model, and of pretrainings."""
    by_model = study.records.groupby("model", sort=False)["seconds"]
    times = [(f"fine-tuning {_model_label(study, name)}", list(seconds)) for name, seconds in by_model]
    times += [(f"pretraining {one.name}", [one.seconds]) for one in study.pretrainings]
    rows = ((what, count(len(ones)), duration(fmean(ones)), duration(sum(ones))) for what, ones in times)
    text = ("From reading the data to the last prediction; trials of searches are not included.",)
    return ChecklistAnswer("measured", text, grid(("What", "Runs", "Mean", "Total"), rows))


def energy(study: StudyData) -> ChecklistAnswer:
    return ChecklistAnswer("unknown", ("Not measured; the machines and times above allow an estimate.",))


def parameters(study: StudyData) -> ChecklistAnswer:
    """Number of parameters in the stored weights."""
    rows = (
        (_model_label(study, name), count(number_of) if number_of is not None else NO_WEIGHTS)
        for name, number_of in study.parameters.items()
    )
    text = ("Counted in the stored weights, including heads of pretraining but not a task's own head.",)
    return ChecklistAnswer("measured", text, grid(("Model", "Parameters"), rows))


def validation(study: StudyData) -> ChecklistAnswer:
    """Mean dev and test score of each model on each dataset, over the runs that did not fail."""
    runs = study.trained
    scores = [(values or {}).get(name) for values, name in zip(runs["metrics"], runs["metric"], strict=True)]
    runs = runs.assign(score=Series(scores, runs.index, "float64"))
    cell_of_runs = ["protocol", "setting", "dataset", "model"]
    rows = [
        (
            _model_label(study, model), dataset, f"{protocol}, {setting}", metric(cell["metric"].iloc[0]),
            _mean_text(cell["dev_score"]), _mean_text(cell["score"]),
            f"{cell['failed'].isna().sum()} of {len(cell)}",
        )
        for (protocol, setting, dataset, model), cell in runs.groupby(cell_of_runs, sort=False)
    ]  # fmt: skip
    headings = ("Model", "Dataset", "Protocol, setting", "Metric", "Validation", "Test", "Runs")
    text = (
        "Means over runs, times 100. Runs without a validation split have no validation score. "
        "A run's validation score is the best one that its trainer measured.",
    )
    return ChecklistAnswer("measured", text if rows else ("Nothing was fine-tuned.",), grid(headings, rows))


def _mean_text(scores: Series) -> str:
    known = scores.dropna()
    return number(100 * fmean(known)) if len(known) else "none"


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


def runs(study: StudyData) -> ChecklistAnswer:
    """Numbers of trials and final runs, including failed ones."""
    failed = int(study.trained["failed"].notna().sum())
    trials = sum(point["trials"] for choice in study.choices.values() for point in choice["considered"])
    text = [
        f"{count(len(study.trained))} final runs, each scored once on test; {count(failed)} of them failed.",
        f"{count(trials)} trials of searches, each scored on validation alone.",
        f"{count(len(study.pretrainings))} pretraining{'s' * (len(study.pretrainings) != 1)}.",
    ]
    if pipelines := len(study.records) - len(study.trained):
        text.append(f"{count(pipelines)} runs of finished pipelines, which are not trained.")
    return ChecklistAnswer("measured", tuple(text))


def bounds(study: StudyData) -> ChecklistAnswer:
    """The values of each grid."""
    rows = []
    for search in study.recipe.searches:
        tried_with = "each model" if search.models == "each" else value_text(search.models)
        by = f"{tried_with}, {search.seeds} seed{'s' * (search.seeds != 1)}"
        rows += [(search.protocol, name_of(key), value_text(tried), by) for key, tried in search.grid.items()]
    table = grid(("Protocol", "Hyper-parameter", "Values tried", "With"), rows)
    return ChecklistAnswer("specified", () if table else (NOTHING,), table)


def chosen(study: StudyData) -> ChecklistAnswer:
    """The choice of each search, and its mean score on validation data."""
    rows = []
    for path, choice in study.choices.items():
        of = choice_of(path)
        place = ", ".join((of.protocol, of.dataset, of.setting, of.model or "all models"))
        values = value_text(choice["chosen"]) if choice["chosen"] else "none: all trials failed"
        mean = number(100 * choice["mean_dev"]) if choice["mean_dev"] is not None else "none"
        rows.append((place, values, mean))
    table = grid(("Chosen for", "Values", "Mean on validation, times 100"), rows)
    return ChecklistAnswer("measured" if rows else "specified", () if rows else (NOTHING,), table)


def method(study: StudyData) -> ChecklistAnswer:
    """How grid points are tried and chosen."""
    if not study.recipe.searches:
        return ChecklistAnswer("specified", (NOTHING, *_kept_epochs_text(study)))
    text = (
        "Every point of the grid is tried with every model and seed that the search names.",
        "Points with the fewest failed trials are considered. Of them, the one with the best mean validation "
        "score over these models and seeds is chosen, or the first one if several are equal.",
        "Test scores do not affect the choice.",
    )
    return ChecklistAnswer("specified", (*text, *_kept_epochs_text(study)))


def _kept_epochs_text(study: StudyData) -> tuple[str, ...]:
    kept = {recipe.get("keep") for recipe in study.trained["recipe"]}
    words = {
        "best": "A run keeps the weights of the epoch with the best validation score.",
        "last": "A run's weights are those of its last step.",
    }
    return tuple(text for name, text in words.items() if name in kept)


def fixed(study: StudyData) -> ChecklistAnswer:
    """The protocols' values, and their overrides for some runs."""
    rows = []
    for name, protocol in study.recipe.protocols.items():
        rows.append((name, "all runs", value_text(protocol.hyperparameters)))
        for override, values in protocol.overrides.items():
            shown = {key: value for key, value in values.items() if key != "why"}
            source = f"{override} ({values['why']})" if values.get("why") else override
            rows.append((name, source, value_text(shown)))
    text = (
        "Later lines override earlier ones, and searched values override both. Each record has the recipe of "
        "its run.",
    )
    return ChecklistAnswer("specified", text if rows else (), grid(("Protocol", "For", "Values"), rows))


def statistics(study: StudyData) -> ChecklistAnswer:
    """How a cell aggregates its runs."""
    rows = []
    for name, table in study.tables.items():
        cells = [cell for _, _, cell in table.read() if cell.seeds]
        sizes = sorted({cell.expected for cell in cells})
        complete = sum(cell.value is not None for cell in cells)
        rows.append((name, table.aggregate, value_text(sizes), f"{complete} of {len(cells)}"))
    text = (
        "Tables show each score with the sample standard deviation over its runs, their number and the score "
        "of each run. A cell with a missing or failed run shows no score.",
    )
    headings = ("Table", "Aggregate", "Runs per score", "Complete")
    return ChecklistAnswer("measured", text, grid(headings, rows))


def limits(study: StudyData) -> ChecklistAnswer:
    """The scale, cells without a score, failed runs, and the protocols' assumptions."""
    recipe = study.recipe
    texts = [] if recipe.comparable else [f"Scale {recipe.scale}: {recipe.scale_title}."]
    for name, table in study.tables.items():
        cells = [cell for _, _, cell in table.read()]
        empty = sum(cell.value is None for cell in cells)
        texts.append(f"{name}: {empty} of {len(cells)} cells have no score; the table gives the reasons.")
    failed = study.records["failed"].notna().sum()
    texts.append(f"{failed} of {len(study.records)} runs failed; their cells show it.")
    for name, protocol in recipe.protocols.items():
        texts += [f"Protocol {name}: {note}" for note in protocol.notes]
    return ChecklistAnswer("measured and specified", tuple(texts))


def risks(study: StudyData) -> ChecklistAnswer:
    texts = (
        "The authors must state the risks. Models fine-tuned here make errors at the rates above and were "
        "evaluated only on these test sets; none is suitable for decisions about patients.",
    )
    return ChecklistAnswer("unknown", texts)


def assistants(study: StudyData) -> ChecklistAnswer:
    return ChecklistAnswer("unknown", ("pubmill records nothing about this.",))


def _model_label(study: StudyData, model: str) -> str:
    known: Mapping[str, Any] = study.recipe.models
    return known[model].label or model if model in known else model
