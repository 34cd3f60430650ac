"""`pubmill inputs` and `pubmill score` on datasets of their own; inputs in every form, without gold."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from typer.testing import CliRunner

import pubmill
from pubmill.cli.app import APP
from pubmill.cli.score_command import print_scored
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, RelationsExample, SequenceExample
from pubmill.examples.prompts import Wording
from pubmill.predictions.inputs_without_gold import row_of, write_inputs
from pubmill.recipes.reading import as_json, as_values
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.storage.files import read_json, read_jsonl_gz
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
    return run_verb(verb, *arguments, "--results", checkout / "results/demo", checkout=checkout)


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
    first, main, second, _ = printed.stdout.splitlines()
    assert main == "  micro_f1 100.00 is by the metric of the tables"
    assert first.startswith("rel test, seed 1, 12 examples, blurb-tsv: micro_f1 100.00, ")
    assert second.startswith("rel test, seed 2, 12 examples, jsonl: micro_f1 93.33, ")
    scores: Any = json.loads((out / "rel/seed-2.scores.json").read_text())
    assert scores["metrics"]["accuracy"] == pytest.approx(11 / 12) and scores["system"]["name"] == "a/b"
    assert (out / "rel/seed-1.predictions.jsonl.gz").is_file()


def test_scores_stand_beside_published_values(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = toy.score(checkout / "results/demo", "rel", toy.jsonl("rel"))
    capsys.readouterr()
    values = (("p/table01", 70.0), ("p/table01", 40.5), ("p/table02", 61.0))
    print_scored(found, 1, [PublishedScore(value, table, "m") for table, value in values])
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


def plain(template: str) -> Wording:
    return Wording(template, {"annotated": "things", "types": "", "labels": "A, B"})


FORMS = {"ner": 8, "rel": 8, "doc": 5, "sim": 5, "qa": 5}


@pytest.mark.parametrize("name", FORMS)
def test_no_file_has_gold_and_every_file_has_all_ids(name: str, tmp_path: Path) -> None:
    toy.make(tmp_path, name)
    recipe = toy.recipe(tmp_path, name)
    rows: Any = toy.examples(name)
    task = {"rel": "relation", "doc": "classification", "sim": "similarity", "qa": "factoid"}.get(name, "ner")
    files = {path.name: path for path in write_inputs(tmp_path, rows, recipe, plain(toy.TEMPLATES[task]))}
    assert len(files) == FORMS[name]
    mapping = json.loads(files.pop("mapping.json").read_text())
    assert set(mapping) == set(filter(None, recipe.labels))
    for path in files.values():
        text = path.read_text()
        assert all(one.id in text for one in rows), path
        if path.name != "prompts.jsonl":
            assert not any(label in text for label in mapping), path
    for line, one in zip(files["inputs.jsonl"].read_text().splitlines(), rows, strict=True):
        row = json.loads(line)
        assert not row.keys() & {"label", "labels", "score", "answers", "golds", "ratings", "layers"}
        assert row["dataset"] == name and row["id"] == one.id


def test_inputs_have_the_words_and_arguments_in_every_form(tmp_path: Path) -> None:
    for name in ("ner", "rel"):
        toy.make(tmp_path, name)
        write_inputs(
            tmp_path / "in" / name, toy.examples(name)[:1], toy.recipe(tmp_path, name), plain("{words}{text}")
        )
    words, relation = tmp_path / "in/ner", tmp_path / "in/rel"
    sentence = "Case 1 : flu fever after old aspirin tablets , not cured ."
    columns = "".join(f"{word}\t_\n" for word in sentence.split())
    assert (words / "inputs.conll").read_text() == f"# id = test-000001\n{columns}\n"
    assert not (words / "inputs.tsv").exists()
    assert (words / "inputs.pubtator").read_text() == f"test-000001|t|{sentence}\n\n"
    text = "In 1 assays drug1 changed gene1 levels."
    assert (relation / "inputs.pubtator").read_text() == (
        f"1000.T1|t|{text}\n1000.T1\t12\t17\tdrug1\tC\tT1\n1000.T1\t26\t31\tgene1\tG\tT2\n\n"
    )
    marked = "In 1 assays [E1] drug1 [/E1] changed [E2] gene1 [/E2] levels."
    assert json.loads((relation / "prompts.jsonl").read_text()) == {"id": "1000.T1", "prompt": marked}
    assert (relation / "inputs.tsv").read_text().splitlines()[1] == f"1000.T1\t{marked}\t?"
    row = json.loads((relation / "inputs.jsonl").read_text())
    assert row["arguments"] == [{"start": 12, "end": 17, "type": "C"}, {"start": 26, "end": 31, "type": "G"}]
    [document] = json.loads((relation / "inputs.bioc.json").read_text())["documents"]
    [passage] = document["passages"]
    assert (passage["offset"], passage["text"], document["id"]) == (0, text, "1000.T1")
    assert [(one["id"], one["text"], one["locations"]) for one in passage["annotations"]] == [
        ("T1", "drug1", [{"offset": 12, "length": 5}]), ("T2", "gene1", [{"offset": 26, "length": 5}]),
    ]  # fmt: skip
    tree = etree.parse(relation / "inputs.bioc.xml")
    assert tree.xpath("//document/id/text()") == ["1000.T1"]
    assert tree.xpath("//annotation/@id") == ["T1", "T2"]
    assert tree.xpath("//location/@offset") == ["12", "26"]


@pytest.mark.parametrize("name", FORMS)
def test_inputs_are_read_back_once_they_are_filled(name: str, tmp_path: Path) -> None:
    toy.make(tmp_path, name)
    rows: Any = toy.examples(name)
    for path in write_inputs(tmp_path, rows, toy.recipe(tmp_path, name), plain("{text}")):
        with pytest.raises(PubmillError):
            toy.score(tmp_path, name, path.read_bytes())
    lines = [json.loads(line) for line in (tmp_path / "inputs.jsonl").read_text().splitlines()]
    filled = [{**line, toy.KEYS[name]: toy.gold(one)} for line, one in zip(lines, rows, strict=True)]
    for content in ("".join(json.dumps(line) + "\n" for line in filled), json.dumps(filled)):
        assert toy.score(tmp_path, name, content).metrics[toy.METRICS[name]] == pytest.approx(1.0)
    if name == "ner":  # labels of words do not fit into a cell
        assert not (tmp_path / "inputs.tsv").exists()
        return
    header, *table = (tmp_path / "inputs.tsv").read_text().splitlines()
    shown = {"doc": "|".join, "qa": lambda value: value[0]}.get(name, str)
    cells = [row.removesuffix("?") + shown(toy.gold(one)) for row, one in zip(table, rows, strict=True)]
    content = "\n".join([header, *cells]) + "\n"
    assert toy.score(tmp_path, name, content).metrics[toy.METRICS[name]] == pytest.approx(1.0)


def test_texts_of_a_pair_are_cells_with_readable_letters_and_an_absent_one_is_empty(
    tmp_path: Path,
) -> None:
    toy.make(tmp_path, "rel")
    pairs = [
        SequenceExample(id=name, document=None, text=f"TGF-β {name}", text_pair=pair, label="yes")
        for name, pair in (("1", "its pair"), ("2", None))
    ]
    for path in write_inputs(tmp_path, pairs, toy.recipe(tmp_path, "rel"), plain("{text}")):
        assert path.name == "mapping.json" or "TGF-β" in path.read_text(encoding="utf-8"), path
    header, *lines = (line.split("\t") for line in (tmp_path / "inputs.tsv").read_text().splitlines())
    assert header == ["id", "text", "text_pair", "prediction"]
    assert [line[:3] for line in lines] == [["1", "TGF-β 1", "its pair"], ["2", "TGF-β 2", ""]]


def test_predictions_and_mappings_that_were_filled_in_stay(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    inputs = (tmp_path / "inputs", toy.examples("rel"), toy.recipe(tmp_path, "rel"), plain("{text}"))
    inputs[0].mkdir()
    assert write_inputs(*inputs) == write_inputs(*inputs)
    (tmp_path / "inputs/mapping.json").write_text('{"yes": "blocks"}')
    with pytest.raises(PubmillError, match="inputs/mapping.json exists with other content, such as"):
        write_inputs(*inputs)
    assert (tmp_path / "inputs/mapping.json").read_text() == '{"yes": "blocks"}'


def test_a_document_has_its_concepts_and_pairs_and_no_relation(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    entity = Entity(start=0, end=4, type="C", id="D1")
    pairs = [["D1", "G1"]]
    one = RelationsExample(
        id="1", document="1", text="drug", entities=[entity], pairs=pairs, relations=[["D1", "G1", "blocks"]]
    )
    row = row_of(one, toy.recipe(tmp_path, "rel"))
    assert row["arguments"] == [{"start": 0, "end": 4, "type": "C", "id": "D1"}] and row["pairs"] == pairs
    assert (row["id"], row["dataset"], "blocks" in json.dumps(row)) == ("1", "rel", False)
    sentence: Any = toy.examples("rel")[0]
    assert "arguments" in row_of(sentence, toy.recipe(tmp_path, "rel"))
    assert "arguments" not in row_of(replace(sentence, entities=[]), toy.recipe(tmp_path, "rel"))
