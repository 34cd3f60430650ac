"""A small study of made-up specs and data, with its archive: two public datasets and one that is not."""

import gzip
import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import yaml

from pubmill.examples.kinds import Example, RegressionExample, SequenceExample, TokensExample, write_examples
from pubmill.extras.archive.archive_stages import Archive
from pubmill.extras.archive.contents import sums
from pubmill.extras.archive.programs.archive import main
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import write_items
from pubmill.metrics.records import score_run, write_record
from pubmill.recipes.finetuning import FinetuningRecipe
from pubmill.recipes.reading import as_values, build
from pubmill.recipes.tables import TableRecipe
from pubmill.report.table_rendering import COMPARISON_RENDERERS, TABLE_RENDERERS
from pubmill.specs.study import check_study
from pubmill.stages import Graph
from pubmill.storage.checksums import FOLDER_SUMS, PREDICTIONS_SEAL, write_formats, write_predictions
from pubmill.storage.files import SEAL, sealed, sha256
from pubmill.storage.result_paths import PREDICTIONS, RELATIVE, TRAINING, run_of
from pubmill.tables.aggregation import finished_table
from pubmill.tables.comparisons import comparisons
from tests.world.part import CANARY

TABLE = "toy/table01"
TABLE_FILE = "tables/toy/toy-table01.json"
SECRET = "secret"
OPEN = {"domain": "biomedical", "access": "public", "licence": "CC BY 4.0"}
CLOSED = {
    "domain": "clinical", "access": "credentialed", "apply": "https://example.org/", "licence": "for members",
}  # fmt: skip


def dataset(name: str, kind: str, task: str, metric: str) -> str:
    splits = ("train", "dev", "test")
    closed = {**CLOSED, "sources": {split: {"local": "own", "file": f"{split}.tsv"} for split in splits}}
    files = {split: {"url": f"https://example.org/{split}", "sha256": "e" * 64} for split in splits}
    about = {"name": name, "kind": kind, "task": task, "metric": metric, "expect": {}, "version": 1}
    about |= closed if name == SECRET else {**OPEN, "sources": files}
    about |= {"negative": "none"} if kind == "sequence" else {}
    return yaml.safe_dump({**about, "converter": "pubmill.convert.conll:read"})


def model(name: str, label: str) -> str:
    released = {"id": f"a/{name}", "revision": "a" * 40}
    return yaml.safe_dump({"name": name, "label": label, "lowercase": True, "released": released})


SPECS = {
    "scales/toy.yaml": "name: toy\ntitle: toy scale\ncomparable: false\nprefer: released\n",
    "protocols/toy.yaml": """
name: toy
search: null
hyperparameters: {learning_rate: 2e-5, batch_size: 8, epochs: 3}
settings: {standard: {}}
final: {seeds: {default: 2}, aggregate: mean, split: test}
equivalence: {alpha: 0.05, power: 0.8, margins: {default: {points: 1, why: made up}}}
""",
    **{
        f"datasets/{name}.yaml": dataset(name, kind, task, metric)
        for name, kind, task, metric in (
            ("words", "tokens", "ner", "entity_f1"),
            ("pairs", "regression", "similarity", "pearson"),
            (SECRET, "sequence", "relation", "micro_f1"),
        )
    },
    "models/bert.yaml": model("bert", "BERT"),
    "models/ours.yaml": model("ours", "Ours"),
    f"tables/{TABLE}.yaml": f"""
name: table01
kind: results
paper: toy
title: A table
caption: Test scores.
protocol: toy
setting: standard
columns:
  - {{model: bert, label: BERT}}
  - {{model: ours, label: Ours}}
  - {{key: best, label: Best, best_of: [bert, ours]}}
  - {{key: other, label: Other work, published: other, missing: not ours}}
rows:
  - {{dataset: words, label: Words, group: ner}}
  - {{dataset: pairs, label: Pairs, group: sts}}
  - {{dataset: {SECRET}, label: Secret, group: re}}
composites:
  - {{name: mean, label: Mean, groups: {{ner: [words], sts: [pairs], re: [{SECRET}]}}}}
""",
    f"tables/{TABLE}.published.csv": f"""\
column,row,metric,value,note
bert,words,entity_f1,60.50,
ours,words,entity_f1,70.25,bold
other,words,entity_f1,71.00,
bert,pairs,pearson,88.10,
ours,{SECRET},micro_f1,66.60,
bert,mean,score,55.00,
""",
}
MODELS, SIZE, LABELS = {"bert": 0.6, "ours": 0.8}, 20, ("up", "down", "none")


def gold(dataset: str) -> list[Example]:
    """Return examples with the canary in every text."""
    dice = Random(dataset)
    made: list[Example] = []
    for number in range(SIZE):
        own: dict[str, Any] = {"id": f"e{number}", "document": f"d{number // 2}"}
        if dataset == "words":
            labels = [dice.choice(("O", "B", "O")) for _ in range(6)]
            made.append(TokensExample(**own, words=[CANARY] * 6, labels=labels, layers={}))
        elif dataset == "pairs":
            made.append(RegressionExample(**own, text="a", text_pair="b", score=dice.uniform(0, 4)))
        else:
            made.append(SequenceExample(**own, text=CANARY, label=dice.choice(LABELS)))
    return made


def line(true: Any, skill: float, dice: Random) -> dict[str, Any]:
    """Return a line of predictions that is right with this probability."""
    if isinstance(true, TokensExample):
        return {"id": true.id, "labels": [one if dice.random() < skill else "O" for one in true.labels]}
    if isinstance(true, RegressionExample):
        return {"id": true.id, "score": skill * true.score + (1 - skill) * dice.uniform(0, 4)}
    return {"id": true.id, "label": true.label if dice.random() < skill else dice.choice(LABELS)}


def report(graph: Graph, record: str, digest: str) -> dict[str, Any]:
    run, seed = run_of(record)
    values = {**as_values(graph.runs.recipe(run)), "learning_rate": 2e-5}
    return {
        "seed": seed, "model": run.model, "recipe": as_values(build(FinetuningRecipe, values, record)),
        "dev": {"best": 0.5, "steps": [3]}, "dev_split": "dev", "failed": None, "max_length": 512,
        "encoded": {"windows_split": 0}, "model_sha256": run.model[0] * 64, "commit": "c" * 40,
        "packages": {"torch": "2.13.0"}, "python": "3.11.9", "seconds": 10.5 + seed, "loss_by_epoch": [0.5],
        "hardware": {"cpu": "a processor", "cores": 2, "gpus": []},
        "data_sha256": {"train": "1" * 64, "dev": "2" * 64, "test": digest},
    }  # fmt: skip


def graph_of(folder: Path, **more: Any) -> Graph:
    own = folder / "own"
    own.mkdir(parents=True, exist_ok=True)
    for name in ("train.tsv", "dev.tsv", "test.tsv"):
        (own / name).touch()
    config = {
        "study": "toy", "title": "A toy", "scale": "toy", "tables": [TABLE],
        "results": str(folder / "results"), "local_files": {"own": str(own)},
    }  # fmt: skip
    return Graph(*check_study(config | more, folder / "checkout/specs"))


def make(folder: Path) -> Path:
    for name, text in SPECS.items():
        path = folder / "checkout/specs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "checkout/rules").mkdir()
    for name in ("Snakefile", "rules/one.smk"):
        (folder / "checkout" / name).write_text("# a workflow\n")
    graph = graph_of(folder)
    results = folder / "results/toy"
    for dataset in ("words", "pairs", SECRET):
        write_examples(results / RELATIVE.examples(dataset, "test"), gold(dataset))
    recipe = graph.tables.recipe(TABLE)
    for record in (path for rows in recipe.records.values() for paths in rows.values() for path in paths):
        run, seed = run_of(record)
        examples, dice = results / RELATIVE.examples(run.dataset, "test"), Random(record)
        predictions, training = (
            results / RELATIVE.predictions(run, seed),
            results / RELATIVE.training(run, seed),
        )
        lines = [line(one, MODELS[run.model], dice) for one in gold(run.dataset)]
        write_predictions(predictions, lines, report(graph, record, sha256(examples)))
        scoring = graph.records.recipe(run, seed)
        made, items = score_run(scoring, SCORERS[scoring.kind], predictions, examples, training)
        write_record(results / record, made)
        write_items(results / RELATIVE.contributions(record), items)
    write_table(folder, graph)
    archive = folder / "results/toy/reports/toy.archive.zip"
    stage = graph.stage(Archive)
    main(stage.recipe(), results, archive, folder / "checkout/specs")
    return archive


def write_table(folder: Path, graph: Graph) -> None:
    results = folder / "results/toy"
    recipe = build(TableRecipe, as_values(graph.tables.recipe(TABLE)), TABLE)
    table = finished_table(recipe, folder / f"checkout/specs/tables/{TABLE}.published.csv", results)
    Path(graph.paths.table(TABLE)).parent.mkdir(parents=True, exist_ok=True)
    write_formats(Path(graph.paths.table(TABLE)), table, TABLE_RENDERERS)
    compared = comparisons(table, results)
    write_formats(Path(graph.paths.comparisons(TABLE)), compared, COMPARISON_RENDERERS)


def members_of(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def fitted(members: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return members with seals, digests of predictions and the list of digests that fit them."""
    made = dict(members)
    for name in sorted(made, key=lambda one: not one.endswith(TRAINING)):
        if name.startswith("results/") and name.endswith(".json"):
            with suppress(ValueError, RecursionError):
                made[name] = resealed(made, name)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}
    return made | {FOLDER_SUMS: sums(digests).encode()}


def resealed(members: Mapping[str, bytes], name: str) -> bytes:
    """Return a JSON member with digests that fit, as far as it has them."""
    value = json.loads(members[name])
    predictions = name.removesuffix(TRAINING) + PREDICTIONS
    if isinstance(value, dict) and predictions in members:
        value[PREDICTIONS_SEAL] = hashlib.sha256(members[predictions]).hexdigest()
    if not isinstance(value, dict) or value.pop(SEAL, None) is None:
        return members[name]
    return json.dumps(sealed(value)).encode()


def write(members: Mapping[str, bytes], archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return archive


def rows(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(content).splitlines()]


def packed(lines: Iterable[Mapping[str, Any]]) -> bytes:
    text = "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines)
    return gzip.compress(text.encode(), mtime=0)
