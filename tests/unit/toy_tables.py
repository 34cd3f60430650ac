"""A small table with made-up records, shared by the tests of tables and report."""

from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from pubmill.metrics.records import Record, write_record
from pubmill.recipes.reading import build as build_recipe
from pubmill.recipes.tables import Heading, TableRecipe, values_of
from pubmill.tables.aggregation import build
from pubmill.tables.cells import Table
from pubmill.tables.comparisons import Comparisons, ModelPair, RowComparisons
from pubmill.tables.published_values import read_published
from pubmill.tables.recorded_runs import load_runs

HEADER = "column,row,metric,value,note\n"
PUBLISHED = HEADER + "bert,bc2gm,entity_f1,80.90,\nbert,gad,micro_f1,77.72,from v5\nbert,blurb,score,79.31,\n"


def recipe(**changes: Any) -> TableRecipe:
    """Two models and two datasets with a composite; only bc2gm is run, with two seeds."""
    values: dict[str, Any] = {
        "paper": "gu2020", "table": "table06", "title": "Table 6", "caption": "Test scores.",
        "scale": "small", "scale_title": "small scale, not comparable with the paper", "comparable": False,
        "protocol": "blurb", "setting": "standard", "aggregate": "mean",
        "equivalence": {
            "alpha": 0.05, "power": 0.8,
            "margins": {key: {"points": 1, "why": "made up"} for key in ("bc2gm", "gad", "blurb")},
            "runs": {"bc2gm": 5, "gad": 5},
        },
        "rows": [row("bc2gm", "BC2GM", "ner", "entity_f1"), row("gad", "GAD", "re", "micro_f1")],
        "columns": [column("bert", "BERT"), column("ours", "Ours")],
        "composites": [{"name": "blurb", "label": "BLURB", "groups": {"ner": ["bc2gm"], "re": ["gad"]}}],
        "records": {model: {"bc2gm": paths(model, "bc2gm")} for model in ("bert", "ours")},
        "missing": {"gad": "relation extraction is not run"},
    }  # fmt: skip
    values |= changes
    return build_recipe(TableRecipe, to_jsonable_python(values), "here")


def row(dataset: str, label: str, group: str, metric: str, **more: Any) -> dict[str, Any]:
    """A row of one dataset, called so among the published values too."""
    names = {"key": dataset, "dataset": dataset, "published": dataset, "printed": metric}
    return {**names, "label": label, "group": group, "metric": metric, **more}


def column(key: str, label: str, **more: Any) -> dict[str, Any]:
    """A column of one model, called so among the published values too."""
    return {"key": key, "model": key, "label": label, "published": [key], **more}


def paths(model: str, dataset: str, seeds: int = 2) -> list[str]:
    folder = f"runs/blurb/{model}/{dataset}/standard/final"
    return [f"{folder}/seed-{seed}.json" for seed in range(1, seeds + 1)]


def record(model: str, dataset: str, seed: int, score: float, **changes: Any) -> Record:
    values: dict[str, Any] = {
        "model": model, "dataset": dataset, "protocol": "blurb", "setting": "standard", "scale": "small",
        "seed": seed, "split": "test", "metric": "entity_f1", "metrics": {"entity_f1": score}, "counts": {},
        "dev_score": score, "failed": None, "recipe": {}, "max_length": 512, "dev_split": "dev",
        "encoded": {}, "versions": {"finetune": 1}, "data_sha256": "d" * 64,
        "trained_on_sha256": {"train": "a" * 64}, "model_sha256": None, "commit": "c" * 40,
        "packages": {"torch": "2.13.0"}, "python": "3.11.9",
        "hardware": {"cpu": "a processor", "cores": 2, "gpus": []}, "seconds": 10.0, "scored_with": {},
    }  # fmt: skip
    return Record(**values | changes)


def write(results: Path, *records: Record) -> None:
    for one in records:
        folder = results / f"runs/{one.protocol}/{one.model}/{one.dataset}/{one.setting}/final"
        write_record(folder / f"seed-{one.seed}.json", one)


def write_all(results: Path) -> None:
    """All records that `recipe()` expects: bert 0.80 and 0.82, ours 0.90 and 0.92."""
    for model, first in (("bert", 0.80), ("ours", 0.90)):
        write(results, record(model, "bc2gm", 1, first), record(model, "bc2gm", 2, first + 0.02))


def table(results: Path, made: TableRecipe | None = None, published: str = PUBLISHED) -> Table:
    made = made or recipe()
    path = results / "table06.published.csv"
    path.write_text(published)
    return build(made, read_published(path, made.left_out), load_runs(made, results))


def compared(one: Table) -> Comparisons:
    """The best complete cell of each row against the others, by p values that are made up."""
    found = []
    rows = [row for row in one.rows if row.shown]
    by_chance: dict[str, Any] = {
        "bootstrap_p": 0.01, "bootstrap_adjusted": 0.02, "randomisation_p": 0.03,
        "randomisation_adjusted": 0.06, "interval": (-0.25, 2.5),
    }  # fmt: skip
    for row in rows:
        cells = {c.key: one.cells[c.key][row.key] for c in one.columns if one.cells[c.key][row.key].seeds}
        scores = {key: cell.value for key, cell in cells.items() if cell.value is not None}
        best, *others = sorted(scores, key=lambda key: -scores[key]) or [""]
        pairs = tuple(
            ModelPair(other=other, difference=scores[best] - scores[other], **by_chance) for other in others
        )
        if pairs:
            found.append(RowComparisons(row=row.key, unit="document", units=60, best=best, pairs=pairs))
    labels = {"row_labels": {row.key: row.label for row in rows}, "rows": tuple(found)}
    labels |= {"metrics": {row.key: row.metric for row in rows}}
    labels |= {"column_labels": {column.key: column.label for column in one.columns}}
    heading: dict[str, Any] = values_of(Heading, one) | labels
    return Comparisons(**heading, aggregate=one.aggregate, resamplings=1000, confidence=0.95)


SYSTEMS = {"genes": 0.6, "drugs": 0.4}
"""Systems that are not fine-tuned, and how each scores on bc2gm."""


def statement(model: str) -> dict[str, Any]:
    """What a record of supplied predictions has as its recipe."""
    return {"system": {"name": f"ner_{model}", "version": "0.5.4", "url": "https://example.org"}}


def system_path(model: str) -> str:
    return f"runs/off-the-shelf/{model}/bc2gm/as-it-is/final/seed-1.json"


def recipe_with_systems(**changes: Any) -> TableRecipe:
    """As `recipe()`, with two such systems and the best of them before the other columns."""
    columns = [
        column("best", "The best", model=None, best_of=list(SYSTEMS)),
        *(column(model, model.title(), supplied=True) for model in SYSTEMS),
        *(column(model, model.title()) for model in ("bert", "ours")),
    ]
    records = recipe().records | {model: {"bc2gm": [system_path(model)]} for model in SYSTEMS}
    return recipe(**{"columns": columns, "records": records} | changes)


def system_record(model: str, **changes: Any) -> Record:
    """What is scored is as in `record`; nothing was trained."""
    values: dict[str, Any] = {
        "protocol": "off-the-shelf", "setting": "as-it-is", "dev_score": None, "max_length": None,
        "dev_split": None,
        "recipe": statement(model), "versions": {"take_predictions": 1}, "packages": {"lxml": "6.1.3"},
        "trained_on_sha256": {"test": "d" * 64}, "seconds": 1000.0,
    }  # fmt: skip
    return record(model, "bc2gm", 1, SYSTEMS[model], **values | changes)


def table_with_systems(results: Path, made: TableRecipe | None = None, published: str = PUBLISHED) -> Table:
    """That table, from all records."""
    write_all(results)
    write(results, *(system_record(model) for model in SYSTEMS))
    return table(results, made or recipe_with_systems(), published)
