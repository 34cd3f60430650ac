"""The reproducibility checklist: answers from records, choices, cards and specs, or said to be unknown."""

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.checklist.checklist_evidence import (
    ChecklistAnswer,
    StudyData,
    count_parameters,
    read_study,
    run_paths,
)
from pubmill.extras.checklist.checklist_recipes import ChecklistRecipe
from pubmill.extras.checklist.checklist_stages import ChecklistStage
from pubmill.extras.checklist.document import CHECKLIST_RENDERERS, QUESTIONS, Checklist, fill
from pubmill.extras.checklist.model_answers import FROZEN, description
from pubmill.recipes.reading import build, read
from pubmill.recipes.writing import as_json
from pubmill.report.rendering import to_json
from pubmill.specs import load
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from pubmill.storage.files import write_json
from pubmill.tables.recorded_runs import record_frame
from tests.conftest import ROOT
from tests.pages import parsed
from tests.unit import toy_tables as made_up
from tests.unit.report import toy_cards as made_up_cards
from tests.unit.report.toy_reports import STUDY

CHOICE = "runs/blurb/selected/bc2gm/standard.json"
SPACE = "\N{NARROW NO-BREAK SPACE}"


def recipe(**changes: Any) -> ChecklistRecipe:
    """Two models on BC2GM, one pretrained here, with hyper-parameters that were searched."""
    dataset = {
        "label": "BC2GM", "task": "ner", "kind": "tokens", "domain": "biomedical", "metric": "entity_f1",
        "access": "public", "apply": None, "licence": "CC BY 4.0", "citation": "a paper",
        "links": ["https://host/train.tsv", "https://host/test.tsv"], "made_up": False,
    }  # fmt: skip
    own = {"kind": "pretraining", "recipe": "base", "step": 4}
    hub = {"kind": "hub", "id": "lab/bert", "revision": "f" * 40}
    models: dict[str, dict[str, Any]] = {
        name: {"label": label, "citation": "", "notes": [], "lowercase": True, "weights": weights}
        for name, label, weights in (("bert", "BERT", hub), ("ours", "Ours", own))
    }
    values: dict[str, Any] = {
        **STUDY,
        "pretraining": {"base": ["pretraining/base/step-4"]},
        "corpora": ["abstracts"],
        "vocabs": ["uncased"],
        "runs": {"blurb": {model: {"standard": {"bc2gm": [1, 2]}} for model in ("bert", "ours")}},
        "searches": [
            {"protocol": "blurb", "grid": {"learning_rate": [1e-5, 5e-5]}, "models": ["bert"], "seeds": 1,
             "selected": [CHOICE]}
        ],
        "protocols": {
            "blurb": {"citation": "Gu et al.", "notes": ["512 is ours"], "hyperparameters": {"epochs": 60},
                      "overrides": {"short": {"max_length": 128, "why": "section 5.2"}}, "aggregate": "mean",
                      "split": "test"}
        },
        "models": models,
        "datasets": {"bc2gm": dataset},
        "versions": {"checklist": 1},
    }  # fmt: skip
    return build(ChecklistRecipe, values | changes, "here")


@pytest.mark.parametrize(
    ("weights", "shown"),
    [
        ({"kind": "hub", "id": "lab/bert", "revision": "f" * 40}, f"released: lab/bert at {'f' * 40}"),
        ({"kind": "hub", "id": "lab/bert", "revision": None}, f"released: lab/bert at {FROZEN}"),
        ({"kind": "archive", "url": "https://a/b.tgz", "sha256": "e" * 64}, f"b.tgz, sha256 {'e' * 64}"),
        ({"kind": "archive", "url": "https://a/b.tgz", "sha256": None}, f"https://a/b.tgz, {FROZEN}"),
    ],
)
def test_released_weights_are_named_with_their_version(weights: dict[str, Any], shown: str) -> None:
    model = {"label": "BERT", "citation": "", "notes": [], "lowercase": True, "weights": weights}
    study = StudyData(recipe(models={"bert": model}), {}, record_frame([]), {}, [], {}, {}, {}, {})
    assert shown in str(description(study).grid)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    made_up.write_all(tmp_path)
    table = tmp_path / "tables/gu2020/table06.json"
    table.parent.mkdir(parents=True)
    table.write_text(to_json(made_up.table(tmp_path)))
    points = [
        {"learning_rate": rate, "mean_dev": dev, "trials": 1, "failed": 0}
        for rate, dev in ((1e-5, 0.5), (5e-5, 0.625))
    ]
    chosen = {"chosen": {"learning_rate": 5e-5}, "failed": None, "mean_dev": 0.625, "considered": points}
    write_json(tmp_path / CHOICE, chosen)
    hardware = {"cpu": "EPYC", "cores": 2, "gpus": []}
    checkpoint = tmp_path / "pretraining/base/step-4"
    write_json(checkpoint / "state.json", {"step": 4, "tokens": 4000, "seconds": 60.0, "hardware": hardware})
    (checkpoint / "log.jsonl").write_text('{"step": 4, "tokens": 4000, "loss": 5.125}\n')
    statistics = {"documents": 7, "parsed": 10, "words": 900, "rejected": {"too_short": 3}}
    write_json(tmp_path / "corpora/abstracts/stats.json", statistics)
    write_json(tmp_path / "vocabs/uncased/diagnosis.json", {"size": 100, "documents": 7})
    made_up_cards.write(tmp_path, made_up_cards.card("bc2gm", "tokens"))
    return tmp_path


def put_weights(path: Path, shapes: dict[str, list[int]]) -> None:
    """A file of safetensors, by its format: the length of a JSON header, the header, the numbers."""
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4 * int.__mul__(*shape) if len(shape) == 2 else 4 * shape[0]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


def answer(checklist: Checklist, beginning: str) -> ChecklistAnswer:
    """The answer to the question that begins so."""
    [found] = [
        item.answer
        for items in checklist.sections.values()
        for item in items
        if item.question.startswith(beginning)
    ]
    return found


def answer_text(found: ChecklistAnswer) -> str:
    return " ".join([*found.text, *(cell for row in (found.grid.rows if found.grid else ()) for cell in row)])


def test_every_question_has_an_answer_or_says_that_it_has_none(results: Path) -> None:
    filled = fill(read_study(recipe(), results))
    assert filled.total == sum(map(len, QUESTIONS.values())) >= 25
    for items in filled.sections.values():
        for item in items:
            assert item.answer.text or item.answer.grid, item.question
    assert filled.unknown == sum(
        item.answer.basis == "unknown" for items in filled.sections.values() for item in items
    )
    assert (
        answer(filled, "Were AI").basis == "unknown" and answer(filled, "How much energy").basis == "unknown"
    )


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("Which models", ["lab/bert at " + "f" * 40, "recipe base, step 4", "Gu et al."]),
        ("Where is the code", ["c" * 40, "torch 2.13.0", "3.11.9"]),
        ("On what machines", ["a processor, 2 cores", "4 runs", "pretraining base"]),
        ("How long", ["fine-tuning BERT", "10 s", "20 s", "1 min 0 s"]),
        ("Which validation scores", ["bc2gm", "81.00", "91.00", "2 of 2"]),
        ("How is each score defined", ["entity F1"]),
        ("How many times", ["4 final runs", "0 of them failed", "2 trials", "1 pretraining."]),
        ("Between which values", ["learning rate", "1e-05, 5e-05", "bert, 1 seed"]),
        ("Which values were best", ["blurb, bc2gm, standard, all models", "learning rate 5e-05", "62.50"]),
        (
            "How were values tried",
            ["fewest failed trials", "best mean validation score", "Test scores do not affect"],
        ),
        ("Which values were fixed", ["epochs 60", "short (section 5.2)", "max length 128"]),
        ("Is a reported score", ["mean", "2 of 2"]),
        ("How large", ["3 sentences", "as expected"]),
        ("How are labels", ["Drug"]),
        ("Where are the data available", ["public", "https://host/train.tsv and 1 more"]),
        ("How were the data prepared", ["no sentence: 7"]),
        ("Do splits", ["test, train", "3"]),
        ("What were models made here", ["7 documents of 10 read", "too short 3", "100 pieces", "5.125"]),
        ("What are their licences", ["CC BY 4.0", "Apache"]),
        ("Do the data name", ["clinical text: none"]),
        ("What limits", ["small scale", "0 of 4 runs failed", "512 is ours"]),
    ],
)
def test_answers_are_what_was_measured_or_specified(results: Path, question: str, facts: list[str]) -> None:
    found = answer_text(answer(fill(read_study(recipe(), results)), question))
    for fact in facts:
        assert fact in found, fact


def test_parameters_are_counted_in_the_weights_where_they_are(results: Path) -> None:
    put_weights(results / "models/ours/model.safetensors", {"a": [2, 3], "b": [4]})
    study = read_study(recipe(), results)
    assert study.parameters == {"bert": None, "ours": 10}
    assert "not available" in answer_text(answer(fill(study), "How many parameters"))


def test_damaged_weights_are_reported(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(PubmillError, match="cannot be read"):
        count_parameters(tmp_path / "model.safetensors")


def test_failed_runs_and_failed_searches_are_reported(results: Path) -> None:
    made_up.write(results, made_up.record("bert", "bc2gm", 2, 0, metrics=None, counts=None, failed="nan"))
    considered = [{"learning_rate": 1e-5, "mean_dev": None, "trials": 3, "failed": 3}]
    write_json(
        results / CHOICE, {"chosen": None, "failed": "nan", "mean_dev": None, "considered": considered}
    )
    filled = fill(read_study(recipe(), results))
    assert "1 of them failed" in answer_text(answer(filled, "How many times"))
    assert "3 trials" in answer_text(answer(filled, "How many times"))
    assert "all trials failed" in answer_text(answer(filled, "Which values were best"))
    assert "1 of 2" in answer_text(answer(filled, "Which validation scores"))


def test_counts_that_are_not_as_the_spec_says_are_reported(results: Path) -> None:
    path = results / "datasets/bc2gm/card.json"
    card = json.loads(path.read_text())
    path.write_text(json.dumps(card | {"expect": {"train": {"sentences": 4}}}))
    grid = answer(fill(read_study(recipe(), results)), "How large").grid
    assert grid and [row[-1] for row in grid.rows] == ["not as expected", "nothing expected"]


def test_without_a_search_or_pretraining_it_says_so(results: Path) -> None:
    filled = fill(read_study(recipe(searches=[], pretraining={}, corpora=[], vocabs=[]), results))
    assert "Nothing was searched" in answer_text(answer(filled, "Between which values"))
    assert answer(filled, "What were models made here").basis == "not applicable"


def test_a_record_that_is_missing_is_named(results: Path) -> None:
    lost = results / "runs/blurb/bert/bc2gm/standard/final/seed-2.json"
    lost.unlink()
    with pytest.raises(PubmillError, match=re.escape(str(lost))):
        read_study(recipe(), results)


def test_both_forms_escape_and_stand_alone(results: Path) -> None:
    hostile = "<img src=x onerror=alert(1)> | *b*"
    filled = fill(read_study(recipe(title=hostile), results))
    page = parsed(CHECKLIST_RENDERERS["html"](filled))
    assert not page.xpath("//script | //link | //img | //@src") and page.xpath("string(//h1)").endswith(
        hostile
    )
    assert len(page.xpath("//h3")) == filled.total
    assert "not comparable" in page.xpath("string(//*[@class='banner'])")
    text = CHECKLIST_RENDERERS["md"](filled)
    assert "<img" not in text and text.count("\n### ") == filled.total
    rows = [line for line in text.splitlines() if line.startswith("| bc2gm | t")]
    assert rows and all(row.replace("\\|", "").count("|") in (4, 5) for row in rows)


def test_the_recipe_is_what_the_specs_say(tmp_path: Path) -> None:
    study = {
        "study": "x",
        "title": "x",
        "scale": "demo",
        "tables": ["gu2020/table06"],
        "results": str(tmp_path),
    }
    targets = checked_graph(Study.model_validate(study), load(ROOT / "specs", "demo"))
    made = read(ChecklistRecipe, as_json(targets.stage(ChecklistStage).recipe()))
    assert {f"{tmp_path}/demo/{path}" for path in run_paths(made.runs)} == set(
        targets.tables.record_files("gu2020/table06")
    )
    by_epochs = {search.grid["epochs"]: search for search in made.searches}
    assert set(by_epochs) == {(3,), (8,), (40,)}  # overrides of the demo's scale
    search = by_epochs[8,]
    assert (search.grid["batch_size"], search.grid["learning_rate"]) == ((16,), (2e-3,))
    assert search.models == ("pubmedbert-base",)
    assert "runs/blurb/selected/bc2gm/standard.json" in search.selected
    assert made.datasets["bc2gm"].made_up and made.datasets["bc2gm"].links
    wanted = set(targets.stage(ChecklistStage).inputs())
    assert all(f"{tmp_path}/demo/{path}" in wanted for one in made.searches for path in one.selected)
    assert set(targets.paths.checklist_files(targets.study.study)) < set(targets.publication.everything())
