"""Tasks of lm-evaluation-harness: what their YAML names, and that their scores are those of pubmill.

The tasks of the demo's datasets of every kind were run with lm-eval 0.4.13 on a random Llama.
"""

import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from pubmill.convert import lm_eval_scoring as scoring
from pubmill.convert.hoc import HALLMARKS
from pubmill.convert.lm_eval import METRICS, SCORING, task_files, task_name, task_table
from pubmill.examples.kinds import KINDS, SpanExample
from pubmill.examples.prompts import wording_of
from pubmill.examples.tagging import to_labels
from pubmill.metrics import SCORERS
from tests.imports import imported
from tests.unit import toy_examples as toy

TASKS = {"ner": "ner", "rel": "relation", "doc": "classification", "sim": "similarity", "qa": "factoid"}
LABELS = {
    "ner": ("Chemical", "Disease"), "rel": toy.LABELS, "doc": tuple(HALLMARKS), "sim": (), "qa": (),
}  # fmt: skip
NEGATIVE = {"rel": "none"}


def docs(name: str) -> list[dict[str, Any]]:
    spec = SimpleNamespace(task=TASKS[name], mentions=None, glosses=None, dummies=None)
    wording = wording_of(spec, LABELS[name], toy.TEMPLATES[spec.task])
    made = task_table(toy.examples(name), toy.KINDS[name], wording, LABELS[name], NEGATIVE.get(name))
    rows: list[dict[str, Any]] = made.to_pylist()
    return rows


def scores(kind: str, rows: list[dict[str, Any]], answers: list[Any]) -> dict[str, float]:
    """Return the metrics that the harness would compute."""
    reader, metrics = METRICS[kind]
    read = [getattr(scoring, reader)(row, [answer]) for row, answer in zip(rows, answers, strict=True)]
    if kind == "sequence":
        read = [scoring.choice(row, answer) for row, answer in zip(rows, answers, strict=True)]
    return {
        name: sum(one[name] for one in read) / len(read)
        if how == "mean"
        else getattr(scoring, how)([one[name] for one in read])
        for name, how in metrics.items()
    }


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_task_names_its_splits_and_functions_that_exist(kind: str) -> None:
    files = task_files("chemprot@blurb", kind, ["train", "dev", "test"], 3)
    assert sorted(files) == ["pubmill_chemprot_blurb.yaml", f"{SCORING}.py"]
    text = files[f"{task_name('chemprot@blurb')}.yaml"]
    for function in re.findall(rf"!function {SCORING}\.(\w+)", text):
        assert callable(getattr(scoring, function))
    found = yaml.safe_load(text.replace("!function ", ""))
    assert found["task"] == "pubmill_chemprot_blurb" and found["metadata"] == {"version": 3}
    assert (found["training_split"], found["validation_split"], found["test_split"]) == (
        "train",
        "dev",
        "test",
    )
    assert (found["output_type"] == "multiple_choice") == (kind == "sequence") == ("doc_to_choice" in found)
    alone = yaml.safe_load(task_files("x", kind, ["test"], 1)["pubmill_x.yaml"].replace("!function ", ""))
    assert not alone.keys() & {"training_split", "fewshot_split", "validation_split"}


def test_the_copied_file_needs_nothing_of_pubmill(root: Path) -> None:
    modules = {name.split(".")[0] for name in imported(root / "pubmill/convert/lm_eval_scoring.py")}
    assert "pubmill" not in modules and "datasets" in modules
    assert task_files("x", "tokens", ["test"], 1)[f"{SCORING}.py"] == Path(scoring.__file__).read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("name", ["ner", "doc", "sim", "qa"])
def test_right_answers_score_one(name: str) -> None:
    rows = docs(name)
    assert all(row["prompt"] and row["id"] for row in rows)
    found = scores(toy.KINDS[name], rows, [row["target"] for row in rows])
    assert found == dict.fromkeys(found, pytest.approx(1.0))
    wrong = scores(toy.KINDS[name], rows, ["\n"] * len(rows))
    assert all(not value > 0 for value in wrong.values())


def test_choices_are_scored_as_pubmill_scores_them() -> None:
    rows, draw = docs("rel"), random.Random(1)
    chosen = [draw.randrange(len(toy.LABELS)) for _ in rows]
    answers = [[(float(place == one), False) for place in range(len(toy.LABELS))] for one in chosen]
    theirs = SCORERS["sequence"](toy.examples("rel"), [toy.LABELS[one] for one in chosen], "none").metrics
    found = scores("sequence", rows, answers)
    assert 0 < found["micro_f1"] < 1
    assert found == {name: pytest.approx(theirs[name]) for name in ("accuracy", "micro_f1")}


def test_mentions_and_labels_are_scored_as_pubmill_scores_them() -> None:
    rows = docs("ner")
    answers = ["Disease: flu\nCHEMICAL: aspirin tablets\nnothing: old\nCase"] * len(rows)
    places = [(3, 4, "Disease"), (7, 9, "Chemical")]
    predicted = [to_labels(places, len(row["words"]), "bio") for row in rows]
    theirs = SCORERS["tokens"](toy.examples("ner"), predicted, None).metrics
    assert 0 < theirs["entity_f1"] < 1
    assert scores("tokens", rows, answers) == {"entity_f1": pytest.approx(theirs["entity_f1"])}
    rows, [first, second] = docs("doc"), HALLMARKS[:2]
    theirs = SCORERS["multilabel"](toy.examples("doc"), [sorted([first, second])] * len(rows), None).metrics
    found = scores("multilabel", rows, [f"{second.upper()}; {first}."] * len(rows))
    assert found == {"micro_f1": pytest.approx(theirs["micro_f1"])}
    invented = scores("multilabel", rows, [f"{second}; {first}; other"] * len(rows))
    assert invented["micro_f1"] < found["micro_f1"]


def test_numbers_and_answers_are_scored_as_pubmill_scores_them() -> None:
    rows, draw = docs("sim"), random.Random(2)
    given = [draw.random() * 4 for _ in rows]
    theirs = SCORERS["regression"](toy.examples("sim"), given, None).metrics
    found = scores("regression", rows, [f"about {value:.9f} points" for value in given])
    assert found == {"pearson": pytest.approx(theirs["pearson"]), "answered": 1.0}
    assert scores("regression", rows, ["no"] + [str(one) for one in given[1:]])["answered"] < 1
    texts = ["The gene1!", "a gene2 here", "none", *["gene4"] * (len(rows) - 3)]
    theirs = SCORERS["span"](toy.examples("qa"), [[(text, 1.0)] for text in texts], None).metrics
    found = scores("span", docs("qa"), [f"{text}\nmore" for text in texts])
    assert found == {name: pytest.approx(theirs[name]) for name in ("exact_match", "f1")}
    unanswerable: dict[str, Any] = {"golds": [], "answers": []}
    assert scoring.answer(unanswerable, ["None."]) == {"exact_match": 1.0, "f1": 1.0}
    assert SpanExample.__dataclass_fields__.keys() >= unanswerable.keys()


def test_mentions_do_not_share_words() -> None:
    words = "a b a b a".split()
    assert scoring.places(words, [(["a"], "X"), (["a", "b"], "Y"), ([], "X")]) == [
        (0, 2, "Y"), (2, 4, "Y"), (4, 5, "X"),
    ]  # fmt: skip
    assert scoring.gold_places(["I-X", "I-X", "B-X", "I-Y", "O"]) == [(0, 2, "X"), (2, 3, "X"), (3, 4, "Y")]


CONCEPTS = {
    "choices": ["Causes", "binds"],
    "pairs": [["C1", "D1"], ["G1", "G2"], ["G2", "G1"]],
    "relations": [["C1", "D1", "Causes", "Novel"], ["G2", "G1", "binds"]],
}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("causes: C1 | D1\n*Binds*: G2|G1\n", [("C1", "D1", "Causes"), ("G2", "G1", "binds")]),
        ("Causes: D1 | C1\nCauses: C1 | D1", [("C1", "D1", "Causes")]),  # either order
        ("binds: G1 | G2", [("G1", "G2", "binds")]),  # both orders are pairs
        ("Other: C9 | D1", [("C9", "D1", "other")]),
        ("Causes: C1\nCauses: C1 | D1 | G1\nnone", []),
        ("", []),
    ],
)
def test_relations_of_an_answer_have_two_concepts_in_the_order_of_a_pair(
    answer: str, found: list[tuple[str, ...]]
) -> None:
    gold = [["C1", "D1", "Causes"], ["G2", "G1", "binds"]]
    assert scoring.relations(CONCEPTS, [answer]) == {"relation_f1": [gold, found]}


def test_every_place_of_a_nested_mention_counts() -> None:
    given = {"choices": ["A", "B"], "words": "old drug and drug".split()}
    mentions = [{"first": 0, "after": 2, "type": "A"}, {"first": 1, "after": 2, "type": "B"}]
    answer = "b: drug\nA: old drug\nC: and\nold"
    assert scoring.nested_mentions({**given, "mentions": mentions}, [answer]) == {
        "entity_f1": [[(0, 2, "A"), (1, 2, "B")], [(0, 2, "A"), (1, 2, "B"), (3, 4, "B")]]
    }


@pytest.mark.parametrize(
    ("choices", "answer", "named"),
    [
        ([""], "old drug\na: b\n\n", [(["old", "drug"], ""), (["a:", "b"], ""), ([], "")]),
        (["Drug"], "old\ndrug: new", [(["old"], "Drug"), (["new"], "Drug")]),
        (["Drug"], "other: x", [(["other:", "x"], "Drug")]),
        (["Drug", "Dose"], "old drug\nDOSE: 5 mg: x\nother: x", [(["5", "mg:", "x"], "Dose")]),
    ],
)
def test_the_type_of_a_mention_is_named_only_if_there_are_several(
    choices: list[str], answer: str, named: list[tuple[list[str], str]]
) -> None:
    assert scoring.named_mentions({"choices": choices}, answer) == named


def test_a_task_is_generated_with_its_answers_bounds_and_metrics() -> None:
    files = task_files("bc5cdr-chem@blurb", "regression", ["train", "test"], 2)
    assert (
        files["pubmill_bc5cdr_chem_blurb.yaml"]
        == """\
task: pubmill_bc5cdr_chem_blurb
custom_dataset: !function pubmill_scoring.load
training_split: train
test_split: test
fewshot_split: train
doc_to_text: prompt
output_type: generate_until
doc_to_target: target
generation_kwargs: {until: ["\\n\\n"], do_sample: false, max_gen_toks: 256}
process_results: !function pubmill_scoring.number
metric_list:
  - metric: pearson
    aggregation: !function pubmill_scoring.pearson
    higher_is_better: true
  - metric: answered
    aggregation: mean
    higher_is_better: true
metadata: {version: 2}
"""
    )


def test_a_table_has_what_the_scoring_reads() -> None:
    [first, *_] = docs("rel")
    assert (first["choices"], first["negative"], first["target"]) == ([*toy.LABELS], "none", first["label"])
    [typed, *_] = docs("ner")
    assert typed["target"].startswith("Disease: ") and typed["negative"] is None
    spec = SimpleNamespace(task="ner", mentions=None, glosses=None, dummies=None)
    wording = wording_of(spec, ["Disease"], toy.TEMPLATES["ner"])
    [alone, *_] = task_table(toy.examples("ner"), "tokens", wording, ["Disease"], None).to_pylist()
    assert ":" not in alone["target"]
