"""`pubmill inputs` and `pubmill score` on datasets of their own."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import pubmill
from pubmill.cli.app import APP
from pubmill.cli.score_command import print_scored
from pubmill.errors import PubmillError
from pubmill.recipes.reading import as_json, as_values
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.storage.files import read_json, read_jsonl_gz, sha256, write_json
from pubmill.tables.published_values import PublishedScore
from tests.conftest import ROOT
from tests.unit.predictions import toy_datasets as toy
from tests.unit.programs import Ended, make_checkout, run_program, run_verb

SPEC = """
name: NAME
label: A toy
kind: sequence
task: relation
domain: biomedical
sources: {train: {url: "https://example.org/train.tsv", unchecked: a toy}}
splits: [test]
access: public
licence: none
citation: none
converter: pubmill.convert.tsv:read
options: {}
dummies: {types: {C: "@CHEM$", G: "@GENE$"}, overlap: "@CHEM-GENE$"}
expect: {}
metric: micro_f1
negative: none
version: 1
"""
PROMPTS = """
name: own
citation: none
templates:
  relation: "PROMPT OF THE TASK {text}"
  rel: "PROMPT OF THE SPEC {text}"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the specs of two datasets, of which one is converted."""
    (tmp_path / "specs/scales").mkdir(parents=True)
    (tmp_path / "specs/datasets").mkdir()
    (tmp_path / "specs/prompts").mkdir()
    (tmp_path / "specs/prompts/own.yaml").write_text(PROMPTS)
    scale = "name: demo\ntitle: a scale\ncomparable: false\nprefer: own\n"
    (tmp_path / "specs/scales/demo.yaml").write_text(scale)
    for name in ("rel", "rel@later"):
        (tmp_path / f"specs/datasets/{name}.yaml").write_text(SPEC.replace("NAME", name))
    make_checkout(tmp_path)
    toy.make(tmp_path / "results/demo", "rel")
    return tmp_path


def run(checkout: Path, verb: str, *arguments: object) -> Ended:
    """Run a verb on the results of the checkout."""
    return run_verb(verb, *arguments, "--results", checkout / "results/demo", checkout=checkout)


def test_scoring_loads_neither_torch_nor_transformers(root: Path) -> None:
    loaded = ", ".join(
        f"pubmill.predictions.{name}" for name in ("scores", "inputs_without_gold", "supplied")
    )
    code = f"import sys, {loaded}"
    check = "sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    assert subprocess.run([sys.executable, "-c", f"{code}; {check}"], cwd=root, check=False).returncode == 0


def test_prompts_and_glosses_are_those_of_the_dataset(checkout: Path) -> None:
    said = run(checkout, "inputs", "rel", checkout / "inputs", "--prompt", "own").stdout
    assert said.endswith("rel test: inputs of 12 examples, without gold\n") and "inputs.bioc.xml" in said
    first = json.loads((checkout / "inputs/prompts.jsonl").read_text().splitlines()[0])
    assert first["prompt"].startswith("PROMPT OF THE SPEC In 1 assays [E1] drug1")
    spec = checkout / "specs/datasets/rel.yaml"
    said = "the dataset has no label EARLIER, LATER, which its glosses explain\n"
    first = run(checkout, "inputs", "rel", checkout / "first", "--prompt", "own").stdout
    assert first and said not in first
    spec.write_text(spec.read_text() + GLOSSES)
    assert said in run(checkout, "inputs", "rel", checkout / "second", "--prompt", "own").stdout


def test_a_folder_is_scored_and_written(checkout: Path) -> None:
    for seed in (1, 2):
        (checkout / f"mine/seed-{seed}").mkdir(parents=True)
    (checkout / "mine/seed-1/rel.tsv").write_text(toy.blurb_tsv())
    (checkout / "mine/seed-1/relation.tsv").touch()
    (checkout / "mine/seed-2/rel.jsonl").write_text(toy.jsonl("rel").replace('"blocks"', '"none"', 1))
    system = json.dumps({"name": "a/b", "version": "1", "url": "u"})
    out = checkout / "out"
    mine = checkout / "mine"
    printed = run(checkout, "score", mine, "--output", out, "--system", system)
    ignored, written = printed.stderr.splitlines()
    assert ignored.startswith(f"pubmill: {mine / 'seed-1/relation.tsv'} is not scored: it is named after no")
    assert ignored.endswith("the nearest: rel@later, rel")
    assert written == f"pubmill: predictions and scores written to {out}"
    first, its_floor, second, _ = printed.stdout.splitlines()
    assert its_floor == "  micro_f1 100.00 is by the metric of the tables; no floor fits it (docs/floors.md)"
    assert first.startswith("rel test, seed 1, 12 examples, blurb-tsv: micro_f1 100.00, ")
    assert second.startswith("rel test, seed 2, 12 examples, jsonl: micro_f1 93.33, ")
    scores: Any = json.loads((out / "rel/seed-2.scores.json").read_text())
    assert scores["metrics"]["accuracy"] == pytest.approx(11 / 12) and scores["system"]["name"] == "a/b"
    assert (out / "rel/seed-1.predictions.jsonl.gz").is_file()


def test_scores_stand_beside_floors_and_values(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = checkout / "results/demo"
    scores = {"majority": 0.25, "linear": 0.5}
    floors = {name: {"definition": "", "metrics": {"micro_f1": score}} for name, score in scores.items()}
    digest = sha256(results / "datasets/rel/test.jsonl.gz")
    (results / "floors").mkdir(parents=True)
    measured = {"dataset": "rel", "data_sha256": digest, "floors": floors, "ceilings": {}}
    write_json(results / "floors/rel.json", measured)
    (checkout / "mine.jsonl").write_text(toy.jsonl("rel"))
    _, line = run(checkout, "score", checkout / "mine.jsonl", "--dataset", "rel").stdout.splitlines()
    assert line == "  micro_f1 100.00 is by the metric of the tables; its floor is 50.00 (linear)"
    found = toy.score(results, "rel", toy.jsonl("rel"))
    capsys.readouterr()
    values = (("p/table01", 70.0), ("p/table01", 40.5), ("p/table02", 61.0))
    print_scored(found, 1, None, [PublishedScore(value, table, "m") for table, value in values])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "  published: 40.50 to 70.00 in p/table01; 61.00 to 61.00 in p/table02"


def test_a_part_of_the_split_is_scored_if_that_is_said(checkout: Path) -> None:
    lines = toy.jsonl("rel").splitlines(keepends=True)
    (checkout / "mine.jsonl").write_text("".join(lines[:9]))
    words = [checkout / "mine.jsonl", "--dataset", "rel", "--output", checkout / "out"]
    refused = run(checkout, "score", *words)
    assert refused.returncode == 1 and "With `pubmill score --partial`" in refused.stderr
    said = run(checkout, "score", *words, "--partial").stdout.splitlines()
    assert said[0].startswith("rel test, seed 1, 9 of 12 examples, jsonl: micro_f1 85.71, ")
    assert said[-1] == "  3 of 12 examples have no prediction, and count as wrong"
    scores: Any = read_json(checkout / "out/rel/seed-1.scores.json")
    assert (scores["examples"], scores["without_prediction"]) == (12, 3)


def test_made_up_data_are_said_to_be_so(checkout: Path) -> None:
    (checkout / "specs/datasets/chemprot@blurb.yaml").write_text(SPEC.replace("NAME", "chemprot@blurb"))
    toy.make(checkout / "results/demo", "rel", "chemprot@blurb")
    file, scale = checkout / "mine.jsonl", checkout / "specs/scales/demo.yaml"
    file.write_text(toy.jsonl("rel"))
    words = [file, "--dataset", "chemprot@blurb", "--output"]
    source = '{url: "https://example.org/made-up.tsv", unchecked: x}'
    overlay = f'datasets: {{"chemprot@blurb": {{sources: {{train: {source}}}}}}}'
    scale.write_text(f"{scale.read_text()}made_up: true\n{overlay}\n")
    said = run(checkout, "score", *words, checkout / "made-up").stdout
    assert "made-up data of a demonstration: the scores say nothing of the published dataset" in said
    scores: Any = read_json(checkout / "made-up/chemprot@blurb/seed-1.scores.json")
    assert scores["made_up"] is True


def test_all_scorers_are_shown(checkout: Path) -> None:
    (checkout / "mine.jsonl").write_text(toy.jsonl("rel").replace('"blocks"', '"none"', 1))
    file = checkout / "mine.jsonl"
    ended = run(checkout, "score", file, "--dataset", "rel", "--all-scorers")
    first, *lines = ended.stdout.splitlines()
    scores = {line.split()[0]: line.split()[1] for line in lines if len(line.split()) > 1}
    assert "micro_f1 93.33" in first and scores["micro_f1"] == "93.33" and scores["accuracy"] == "91.67"
    assert len(scores) > len(first.split(", "))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["file"], r"file: give --dataset for a file of predictions, and leave it out for a folder"),
        (["folder", "--dataset", "rel"], r"leave it out for a folder of DATASET.EXT"),
        (["file", "--dataset", "rel", "--system", "none"], r"^--system: 'none' is neither JSON text"),
        (
            ["file", "--dataset", "rel", "--system", "{}"],
            r"^--system: not a valid System(.|\n)*name: this key",
        ),
        (["folder"], r"no file is named DATASET.EXT after a dataset"),
        (["file", "--dataset", "rell"], r"there is no dataset 'rell'; the nearest: rel, rel@later"),
        (["file", "--dataset", "rel@later"], r"rel@later is not there yet. Make it: .venv/bin/pubmill run"),
        (["file", "--dataset", "rel", "--mapping", "list.json"], r"expected a JSON object: answer, label"),
        (["file", "--dataset", "rel"], r"file: the file has none of the known forms"),
        (["file", "--dataset", "rel", "--order", "ids"], r"--order ids: expected export, the order in which"),
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str], message: str, checkout: Path) -> None:
    (checkout / "file").write_text("prose\n")
    (checkout / "list.json").write_text("[]")
    (checkout / "folder").mkdir()
    ended = run(checkout, "score", *arguments)
    assert ended.returncode == 1 and re.search(message, ended.stderr.removeprefix("pubmill: error: "))


def test_predictions_of_others_are_read_under_limits(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run_verb` takes the limits away, which would hold for the rest of the tests, too."""
    monkeypatch.chdir(checkout)
    begun: list[object] = []
    monkeypatch.setattr("pubmill.cli.score_command.limited", lambda main: lambda: begun.append(main))
    CliRunner().invoke(APP, ["score", "file", "--dataset", "rel"])
    assert len(begun) == 1
    assert "\n@limited\ndef main(" in (ROOT / "pubmill/jobs/take_predictions.py").read_text()


def test_predictions_of_other_systems_are_scored(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    path = tmp_path / "predictions.conll"
    path.write_text(toy.conll(toy.iobes).replace("S-Disease", "S-Illness"))
    with pytest.raises(PubmillError, match="label that the dataset lacks: Illness"):
        pubmill.score_predictions(path, "ner", tmp_path)
    found = pubmill.score_predictions(path, "ner", tmp_path, mapping={"Illness": "Disease"})
    assert (found.metrics["entity_f1"], found.left_aside()) == (1.0, [])
    with pytest.raises(PubmillError, match=r"has no card\.json: .* not converted there.*nearest first: ner$"):
        pubmill.score_predictions(path, "rel", tmp_path)


GLOSSES = "glosses: {annotated: x, source: x, labels: {activates: x, none: x, LATER: x, EARLIER: x}}\n"


def test_supplied_predictions_become_those_of_a_run(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    given, output = tmp_path / "ner.jsonl", tmp_path / "final/runs.json"
    given.write_text(toy.span_lines().replace('"start": 25', '"start": 26'))
    words = ["--predictions", given, "--model", "llm", "--seeds", 3, "--dataset", "ner"]
    words += ["--results", tmp_path]
    recipe = as_json(as_values(SuppliedRecipe(system=toy.SYSTEM)))
    run_program("take_predictions", "--recipe", recipe, *words, "--output", output)
    assert [row["id"] for row in read_jsonl_gz(output.with_name("seed-3.predictions.jsonl.gz"))] == [
        one.id for one in toy.examples("ner")
    ]
    notes = read_json(output.parent / "seed-3.training.json")
    assert (notes["model"], notes["seed"], notes["split"], notes["seconds"]) == ("llm", 3, "test", 0.0)
    assert notes["recipe"].keys() == {"task", "negative", "mapping", "system"}
    assert notes["encoded"].keys() == {"spans", "unaligned_spans", "unmapped_answers"}


def test_answers_become_a_run_with_its_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy.make(tmp_path, "doc")
    rows = [{"custom_id": one.id, "response": {"body": body(one.id)}} for one in toy.examples("doc")]
    given, output = tmp_path / "doc.jsonl", tmp_path / "final/runs.json"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    price = {"prompt": 1.0, "answer": 2.0, "currency": "EUR"}
    recipe = as_values(SuppliedRecipe(system=toy.SYSTEM, asked=True)) | {"price": price}
    words = ["--predictions", given, "--model", "llm", "--seeds", 1, "--dataset", "doc"]
    words += ["--results", tmp_path]
    run_program("take_predictions", "--recipe", as_json(recipe), *words, "--output", output)
    notes = read_json(output.parent / "seed-1.training.json")
    assert notes["recipe"]["price"] == price and notes["recipe"]["system"]["name"] == toy.SYSTEM.name
    assert notes["encoded"] == {
        "spans": 0, "unaligned_spans": 0, "unmapped_answers": 1, "prompt_tokens": 120, "answer_tokens": 36,
        "cut_answers": 1, "ambiguous_answers": 0,
    }  # fmt: skip
    said = f"{given}: 12 predictions, batch; 0 of 0 spans fit no words, 1 answers have no mapping\n"
    assert capsys.readouterr().out == said
    run_program("take_predictions", "--recipe", as_json(recipe | {"price": None}), *words, "--output", output)
    assert "price" not in read_json(output.parent / "seed-1.training.json")["recipe"]


def body(name: str) -> dict[str, Any]:
    """Return the body of an answer of 3 tokens to 10; the first cannot be read and is cut off."""
    text, reason = ("nobody can say", "length") if name == "71" else ("none", "stop")
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return {"model": "m", "choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 3}}
