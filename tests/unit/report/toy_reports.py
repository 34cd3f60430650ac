"""What a report is made from, in a made-up results folder."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pubmill.recipes.reading import build
from pubmill.recipes.report import ReportRecipe
from pubmill.report.rendering import to_json
from pubmill.storage.result_paths import RELATIVE
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up
from tests.unit.report import test_dataset_pages as made_up_pages
from tests.unit.report import toy_cards as made_up_cards

STUDY = {
    "study": "small", "title": "A study", "scale": "small",
    "scale_title": "small scale, not comparable with the paper", "comparable": False,
    "tables": ["gu2020/table06"],
}  # fmt: skip
HOSTILE = "<img src=x onerror=alert(1)>"


def recipe(datasets: Sequence[str] = ("bc2gm",), **changes: Any) -> ReportRecipe:
    values: dict[str, Any] = {
        **STUDY, "fact_tables": [],
        "pretraining": {"base": ["pretraining/base/step-2", "pretraining/base/step-4"]},
        "corpora": ["abstracts"], "vocabs": ["uncased"], "models": ["bert", "ours"], "datasets": [],
        "sources": ["sources/host/one.tsv.source.json"],
        "references": {"gu2020": {"text": "Gu et al. (2021).", "doi": "10.1145/3458754"}},
    }  # fmt: skip
    pages = tuple(made_up_pages.recipe(name=name, label="", card=RELATIVE.card(name)) for name in datasets)
    return replace(build(ReportRecipe, values | changes, "here"), datasets=pages)


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def put_table(results: Path, table: Table) -> None:
    """The table, and its models compared."""
    put(results / "tables/small/gu2020-table06.json", to_json(table))
    put(results / "tables/small/gu2020-table06.comparisons.json", to_json(made_up.compared(table)))


def put_page(results: Path, dataset: str, kind: str, **changes: Any) -> None:
    """The card of a dataset, and the record of its source."""
    made_up_cards.write(results, made_up_cards.card(dataset, kind, **changes))
    made_up_pages.put_record(results)


SOURCE = {"url": "u", "bytes": 5, "sha256": "5" * 64, "origin": "network", "retrieved": "2026-01-02T00:00:00"}


def put_source(results: Path, name: str, folder: str = "host") -> None:
    put(results / "sources" / folder / f"{name}.source.json", SOURCE)


def put_checkpoint(folder: Path, end: int) -> None:
    """Log and state of a pretraining up to a step: a minute in four steps."""
    lines = [{"step": step, "tokens": step * 1000, "loss": 9.0 - step} for step in range(1, end + 1)]
    put(folder / "log.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    hardware = {"cpu": "EPYC", "cores": 2, "gpus": [], "threads": 2}
    put(
        folder / "state.json",
        {"step": end, "tokens": end * 1000, "seconds": 15.0 * end, "hardware": hardware},
    )


def training(recipe: dict[str, Any], scores: list[float], losses: list[float]) -> dict[str, Any]:
    """Notes on a training with an evaluation on dev after each epoch of ten steps."""
    best = max(scores, default=None)
    return {
        "recipe": recipe,
        "dev": {"metric": "entity_f1", "steps": [10 * (i + 1) for i in range(len(scores))], "scores": scores,
         "best": best, "best_step": None if best is None else 10 * (scores.index(best) + 1),
         "best_epoch": None if best is None else scores.index(best) + 1.0},
        "loss_by_epoch": losses, "seconds": 1.0,
    }  # fmt: skip


def put_training(results: Path, record: str, made: dict[str, Any]) -> None:
    put(results / f"{record.removesuffix('.json')}.training.json", made)


STATISTICS = {
    "parsed": 10, "documents": 7, "words": 900, "bytes": 5000, "rejected": {"too_short": 3},
    "samples": {"too_short": [HOSTILE]}, "by_source": {}, "years": {"1999": 6, "unknown": 1},
}  # fmt: skip
DIAGNOSIS = {
    "size": 100, "documents": 7, "distinct_words": 50, "subwords_per_word": 1.25, "split_words": 0.2,
    "unknown_words": 0.0,
}  # fmt: skip


def put_study(results: Path, table: Table) -> Path:
    """Everything that `recipe()` names, with this table."""
    put_table(results, table)
    for end in (2, 4):
        put_checkpoint(results / f"pretraining/base/step-{end}", end)
    put(results / "corpora/abstracts/stats.json", STATISTICS)
    put(results / "vocabs/uncased/diagnosis.json", DIAGNOSIS)
    put_page(results, "bc2gm", "tokens")
    put_source(results, "one.tsv")
    return results
