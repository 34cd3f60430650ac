"""A small study of made-up examples of every kind, with its tables and its proof."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from pubmill.examples.kinds import (
    Answer,
    Example,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
    write_examples,
)
from pubmill.examples.tagging import PredictedLabels
from pubmill.extras.proof.archive import as_gzip, proof, write_proof
from pubmill.extras.proof.basis import table_basis
from pubmill.extras.proof.proofs import ProofRecipe, TableBasisRecipe
from pubmill.extras.proof.verifier.container import SUMS, pack, sums, unpack
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import Items, units_of, write_items
from pubmill.metrics.records import write_record
from pubmill.recipes.audits import AuditedColumn, AuditedRow, AuditedTable
from pubmill.recipes.tables import PublishedRow, TableRecipe, values_of
from pubmill.report.rendering import to_json
from pubmill.storage.files import sha256, write_json, write_jsonl_gz
from pubmill.storage.result_paths import BELOW, RunKey
from pubmill.tables.aggregation import finished_table
from pubmill.tables.comparisons import comparisons
from tests.unit import toy_tables
from tests.world.part import CANARY

SECRET = "secret"
ROWS = {
    "words": ("tokens", "entity_f1"),
    "elements": ("tokens", "word_macro_f1"),
    "relations": ("sequence", "micro_f1"),
    "topics": ("multilabel", "example_f1"),
    "pairs": ("regression", "pearson"),
    "questions": ("span", "f1"),
    SECRET: ("sequence", "macro_f1"),
}
"""Dataset -> its kind and the metric of its row."""
OPEN = tuple(name for name, (kind, _) in ROWS.items() if kind != "span" and name != SECRET)
MODELS, SEEDS, SIZE = ("bert", "ours", "poor"), 3, 24
SKILL = {"bert": 0.8, "ours": 0.9, "poor": 0.2}
LABELS = ("up", "down", "none")
TABLE = "gu2020/table06"


def example(kind: str, number: int, dice: Random) -> Example:
    """Return an example with the canary in every text."""
    own: dict[str, Any] = {"id": f"e{number}", "document": f"d{number // 2}"}
    if kind == "tokens":
        labels = [dice.choice(("O", "B-PAR", "I-PAR", "B-INT", "O")) for _ in range(6)]
        marks = [int(label.endswith("PAR")) for label in labels]
        layers = {"participants": marks, "interventions": [dice.choice((0, 1)) for _ in labels]}
        return TokensExample(**own, words=[CANARY] * 6, labels=labels, layers=layers)
    if kind == "sequence":
        return SequenceExample(**own, text=CANARY, label=dice.choice(LABELS))
    if kind == "multilabel":
        return MultilabelExample(**own, text=CANARY, labels=sorted(dice.sample(LABELS, dice.choice((1, 2)))))
    if kind == "regression":
        return RegressionExample(**own, text=CANARY, text_pair=CANARY, score=dice.uniform(0, 4))
    answer = Answer(text=f"{CANARY} one", start=0)
    question: dict[str, Any] = {"question": CANARY, "context": f"{CANARY} one two", "answers": [answer]}
    return SpanExample(**own, **question, group=f"q{number // 2}", golds=[answer.text])


def prediction(true: Any, skill: float, dice: Random) -> Any:
    """Return a prediction that is right with this probability."""
    if isinstance(true, TokensExample):
        labels = [label if dice.random() < skill else "O" for label in true.labels]
        subwords = [[label, *dice.choice(([], ["X"], ["O"]))] for label in labels]
        return PredictedLabels(labels, subwords)
    if isinstance(true, SequenceExample):
        return true.label if dice.random() < skill else dice.choice(LABELS)
    if isinstance(true, MultilabelExample):
        return true.labels if dice.random() < skill else dice.choice(([], ["down"], ["none", "up"]))
    if isinstance(true, RegressionExample):
        return skill * true.score + (1 - skill) * dice.uniform(0, 4)
    right = isinstance(true, SpanExample) and dice.random() < skill
    return [(f"{CANARY} one" if right else f"{CANARY} two", 0.9)]


def as_line(true: Any, found: Any) -> dict[str, Any]:
    """Return the line of a predictions file."""
    if isinstance(found, PredictedLabels):
        return {"id": true.id, "labels": list(found), "subword_labels": found.subwords}
    if isinstance(found, str | float):
        return {"id": true.id, "label" if isinstance(found, str) else "score": found}
    if isinstance(true, SpanExample):
        answers = [{"text": text, "probability": share} for text, share in found]
        return {"id": true.id, "answers": answers}
    return {"id": true.id, "labels": found}


def record_path(model: str, dataset: str, seed: int) -> str:
    return BELOW.record(RunKey("blurb", model, dataset, "standard"), seed)


def write_runs(results: Path) -> None:
    """Write examples, predictions, records and contributions of all runs."""
    for dataset, (kind, metric) in ROWS.items():
        dice = Random(dataset)
        gold = [example(kind, number, dice) for number in range(SIZE)]
        path = results / BELOW.examples(dataset, "test")
        write_examples(path, gold)
        card = {"access": "credentialed" if dataset == SECRET else "public"}
        write_json(results / BELOW.card(dataset), card)
        for model in MODELS:
            for seed in range(1, SEEDS + 1):
                found = [prediction(one, SKILL[model], dice) for one in gold]
                run = RunKey("blurb", model, dataset, "standard")
                lines = [as_line(*both) for both in zip(gold, found, strict=True)]
                write_jsonl_gz(results / BELOW.predictions(run, seed), reversed(lines))
                scored = SCORERS[kind](gold, found, "none" if kind == "sequence" else None)
                digest = sha256(path)
                record = results / record_path(model, dataset, seed)
                items = Items(kind, units_of(gold).each, digest, scored.contributions)
                write_items(Path(BELOW.contributions(str(record))), items)
                own = {"metrics": scored.metrics, "metric": metric, "data_sha256": digest, "scale": "full"}
                negative = {"negative": "none"} if kind == "sequence" else {}
                write_record(record, toy_tables.record(model, dataset, seed, 0.5, **own, recipe=negative))


def recipe(models: Sequence[str] = MODELS) -> TableRecipe:
    rows = [toy_tables.row(name, name.title(), kind, metric) for name, (kind, metric) in ROWS.items()]
    own = [
        *[toy_tables.column("best", "Best", model=None, best_of=["bert", "ours"])] * (len(models) > 1),
        *(toy_tables.column(name, name) for name in models),
    ]
    names = [*ROWS, "mean"]
    return toy_tables.recipe(
        scale="full", scale_title="full scale", comparable=True, rows=rows, columns=own, missing={},
        composites=[{"name": "mean", "label": "Mean", "groups": {name: [name] for name in ROWS}}],
        equivalence={
            "alpha": 0.05, "power": 0.8, "runs": dict.fromkeys(ROWS, 5),
            "margins": {name: {"points": 3, "why": "made up"} for name in names},
        },
        records={
            model: {
                name: [record_path(model, name, seed) for seed in range(1, SEEDS + 1)] for name in ROWS
            }
            for model in models
        },
    )  # fmt: skip


def audited(made: TableRecipe) -> AuditedTable:
    return AuditedTable(
        name=TABLE, paper="gu2020", number=6, protocol="blurb", composites=made.composites,
        columns=tuple(
            AuditedColumn(key=one.key, label=one.label, model=one.model, published=one.published)
            for one in made.columns
        ),
        rows=tuple(AuditedRow(**values_of(PublishedRow, row)) for row in made.rows),
    )  # fmt: skip


def write_published(specs: Path, models: Sequence[str]) -> None:
    lines = [
        f"{model},{name},{metric},{70 + 3 * number + place}.5,"
        for number, model in enumerate(("bert", "ours"))
        if model in models
        for place, (name, (_, metric)) in enumerate(ROWS.items())
    ]
    path = specs / f"tables/{TABLE}.published.csv"
    path.parent.mkdir(parents=True)
    composite = ["bert,mean,score,73.50,from v5"] if "bert" in models else []
    path.write_text(toy_tables.HEADER + "\n".join([*lines, *composite]) + "\n")


def own_recipe(**changes: Any) -> ProofRecipe:
    own: dict[str, Any] = {
        "study": "toy", "title": "A toy", "scale": "full", "scale_title": "full scale", "comparable": True,
        "tables": (TABLE,), "open_datasets": OPEN, "versions": {"proof": 1},
    }  # fmt: skip
    return ProofRecipe(**own | changes)


def make(folder: Path, models: Sequence[str] = MODELS) -> Path:
    """Make the study and its proof, and return the folder of results."""
    results, specs = folder / "results", folder / "specs"
    write_runs(results)
    write_published(specs, models)
    made = recipe(models)
    table = finished_table(made, specs / f"tables/{TABLE}.published.csv", results)
    (results / BELOW.table(TABLE, "json")).parent.mkdir(parents=True)
    (results / BELOW.table(TABLE, "json")).write_text(to_json(table))
    (results / BELOW.comparisons(TABLE, "json")).write_text(to_json(comparisons(table, results)))
    of_table = TableBasisRecipe(table=made, audited=audited(made), versions={"basis": 1})
    write_json(results / BELOW.table_basis(TABLE), table_basis(of_table, specs, results))
    write_proof(own_recipe(), specs, results, results / BELOW.proof("toy"))
    return results


def again(results: Path, **changes: Any) -> bytes:
    """Return the proof of the same study with another recipe."""
    return proof(own_recipe(**changes), results.parent / "specs", results)


def edited(data: bytes, name: str, edit: Callable[[Any], object]) -> bytes:
    """Return a proof of which the content of one member was changed, with sums that fit."""
    members = unpack(data)
    content = read(members, name)
    edit(content)
    members[name] = as_gzip(content)
    members[SUMS] = sums(members)
    return pack(members)


def read(members: Mapping[str, bytes], name: str) -> Any:
    return json.loads(gzip.decompress(members[name]))


def names_of(members: Mapping[str, bytes], folder: str) -> Sequence[str]:
    return [name for name in members if name.startswith(folder)]
