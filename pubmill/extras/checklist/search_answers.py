"""Answers on runs and hyper-parameters."""

from pubmill.extras.checklist.checklist_answers import ChecklistAnswer, grid, name_of, value_text
from pubmill.extras.checklist.checklist_evidence import StudyData
from pubmill.extras.checklist.checklist_recipes import SearchSummary
from pubmill.report.rendering import count, number
from pubmill.storage.names_in_paths import choice_of

NOTHING = "Nothing was searched: every value is given by the protocol."


def runs(study: StudyData) -> ChecklistAnswer:
    """Numbers of trials and final runs, including failed ones."""
    failed = int(study.trained["failed"].notna().sum())
    trials = sum(point["trials"] for choice in study.choices.values() for point in choice["considered"])
    pipelines = len(study.records) - len(study.trained)
    pipelines_note = (f"{count(pipelines)} runs of finished pipelines, which are not trained.",)
    text = (
        f"{count(len(study.trained))} final runs, each scored once on test; {count(failed)} of them failed.",
        f"{count(trials)} trials of searches, each scored on validation alone.",
        f"{count(len(study.pretrainings))} pretraining{'s' * (len(study.pretrainings) != 1)}.",
    )
    return ChecklistAnswer("measured", text + (pipelines_note if pipelines else ()))


def bounds(study: StudyData) -> ChecklistAnswer:
    """The values of each grid."""
    rows = (
        (search.protocol, name_of(key), value_text(values), _search_models_text(search))
        for search in study.recipe.searches
        for key, values in search.grid.items()
    )
    table = grid(("Protocol", "Hyper-parameter", "Values tried", "With"), rows)
    return ChecklistAnswer("specified", () if table else (NOTHING,), table)


def _search_models_text(search: SearchSummary) -> str:
    models = "each model" if search.models == "each" else value_text(search.models)
    return f"{models}, {search.seeds} seed{'s' * (search.seeds != 1)}"


def chosen(study: StudyData) -> ChecklistAnswer:
    """The choice of each search, and its mean score on validation data."""
    rows = [
        (
            _choice_place(path),
            value_text(choice["chosen"]) if choice["chosen"] else "none: all trials failed",
            number(100 * choice["mean_dev"]) if choice["mean_dev"] is not None else "none",
        )
        for path, choice in study.choices.items()
    ]
    table = grid(("Chosen for", "Values", "Mean on validation, times 100"), rows)
    return ChecklistAnswer("measured" if rows else "specified", () if rows else (NOTHING,), table)


def _choice_place(path: str) -> str:
    """Return the protocol, dataset, setting and models that a choice is for."""
    choice = choice_of(path)
    return ", ".join((choice.protocol, choice.dataset, choice.setting, choice.model or "all models"))


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
