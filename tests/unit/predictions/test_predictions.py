"""Labels, spans and free strings of systems become predictions, or are refused, counted and listed."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.predictions import submission
from pubmill.predictions.alignment import FURTHEST, place_words
from pubmill.predictions.mapped_labels import UNMAPPED
from pubmill.predictions.predictions import Normaliser, is_constant
from pubmill.predictions.rows import PredictedSpan, PredictionRow
from pubmill.predictions.scores import score_submission
from pubmill.predictions.supplied import supply
from pubmill.recipes.submissions import SubmissionRecipe, SuppliedRecipe, System
from pubmill.storage.files import write_jsonl_gz
from tests.unit.predictions import toy_datasets as toy

MAPPING = {"Activation": "activates", "inhibition": "blocks", "no relation": "none"}
ANSWERS = {"activates": " **activation**. ", "blocks": "Inhibition", "none": '"No relation."'}


def outputs(name: str, answers: dict[str, str], change: dict[str, str] | None = None) -> str:
    rows = {one.id: answers[toy.gold(one)] for one in toy.examples(name)} | (change or {})
    return toy.jsonl_of({"id": name, "output": text} for name, text in rows.items())


def test_free_strings_are_mapped_and_unmapped_ones_are_wrong_and_listed(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    assert toy.score(tmp_path, "rel", outputs("rel", ANSWERS), mapping=MAPPING).metrics["accuracy"] == 1.0
    content = outputs("rel", ANSWERS, {"1000.T1": "Maybe?\nI think it blocks it", "1001.T2": "?"})
    found = toy.score(tmp_path, "rel", content, mapping=MAPPING)
    assert found.metrics["accuracy"] == pytest.approx(10 / 12)
    assert [line["label"] for line in found.submission.lines][:2] == [UNMAPPED, UNMAPPED]
    assert found.left_aside() == [
        "2 of 12 answers have no mapping, and count as wrong",
        f"  {tmp_path}/predictions:1: Maybe? I think it blocks it",
        f"  {tmp_path}/predictions:2: ?",
    ]
    assert found.summary()["unmapped"] == [f"{tmp_path}/predictions:{line}" for line in (1, 2)]
    content = outputs("rel", ANSWERS)
    with pytest.raises(PubmillError, match="need a declared mapping from answers to labels"):
        toy.score(tmp_path, "rel", content)
    with pytest.raises(PubmillError, match="names labels that the dataset lacks: inhibits; its labels are"):
        toy.score(tmp_path, "rel", content, mapping={**MAPPING, "x": "inhibits"})
    with pytest.raises(PubmillError, match="differ only by case"):
        toy.score(tmp_path, "rel", content, mapping={**MAPPING, "Inhibition.": "none"})


def test_an_unmapped_answer_is_wrong_even_where_the_gold_is_negative(tmp_path: Path) -> None:
    """Micro F1 leaves out the negative label, but no answer is a false positive."""
    toy.make(tmp_path, "rel")
    change = {one.id: "?" for one in toy.examples("rel") if toy.gold(one) == "none"}
    found = toy.score(tmp_path, "rel", outputs("rel", ANSWERS, change), mapping=MAPPING)
    assert found.metrics["micro_f1"] == pytest.approx(2 * 8 / (8 + 12))


def test_free_strings_of_the_other_kinds(tmp_path: Path) -> None:
    for name in ("doc", "sim", "qa", "ner"):
        toy.make(tmp_path, name)
    rows: Any = toy.examples("doc")
    labels = {label: label for one in rows for label in one.labels} | {"none": ""}
    lines = [{"id": one.id, "output": "; ".join(one.labels) or "None."} for one in rows]
    content = toy.jsonl_of(lines)
    assert toy.score(tmp_path, "doc", content, mapping=labels).metrics["micro_f1"] == 1.0
    broken = toy.score(tmp_path, "doc", content.replace("None.", "death?"), mapping=labels)
    assert broken.metrics["micro_f1"] < 1 and len(broken.submission.reading.unmapped) == 3
    lines = [{"id": one.id, "output": f" {toy.gold(one)}"} for one in toy.examples("sim")]
    content = toy.jsonl_of(lines)
    assert toy.score(tmp_path, "sim", content).metrics["pearson"] == pytest.approx(1.0)
    assert toy.score(tmp_path, "sim", content.replace(" 2.25", "**2.25**")).metrics["pearson"] > 0.99
    with pytest.raises(PubmillError, match="a correlation cannot count an answer as wrong"):
        toy.score(tmp_path, "sim", content.replace("2.25", "rather similar", 1))
    lines = [{"id": one.id, "output": toy.gold(one)[0]} for one in toy.examples("qa")]
    assert toy.score(tmp_path, "qa", lines).metrics["mrr"] == 1.0


def test_a_line_without_a_type_is_a_mention_only_of_the_only_type(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    content = [{"id": one.id, "output": "flu"} for one in toy.examples("ner")]
    types = {"disease": "Disease", "drug": "Chemical"}
    with pytest.raises(PubmillError, match="12 of 12 answers have no mapping and name no mention of"):
        toy.score(tmp_path, "ner", content, mapping=types)
    recipe = replace(toy.recipe(tmp_path, "ner", mapping={"disease": "Disease"}), labels=("Disease",))
    of_one = score_submission(tmp_path / "predictions", recipe, tmp_path)
    assert of_one.submission.reading.unmapped == []
    assert {label for row in of_one.submission.lines for label in row["labels"]} == {"O", "B-Disease"}


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("rel", '"blocks"', '"inhibits"', "1 label that the dataset lacks: inhibits; .*`--mapping`, such"),
        ("ner", "-Disease", "-Illness", r"label that the dataset lacks: Illness"),
        ("doc", "cellular energetics", "energy", r"lacks: energy"),
    ],
)
def test_unknown_labels_must_be_mapped(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    toy.make(tmp_path, name)
    content = toy.jsonl(name).replace(old, new)
    with pytest.raises(PubmillError, match=message):
        toy.score(tmp_path, name, content)
    mapping = {new.strip('"-'): old.strip('"-')}
    assert toy.score(tmp_path, name, content, mapping=mapping).metrics[toy.METRICS[name]] == 1.0


def test_spans_that_fit_no_words_are_counted_and_listed(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    lines = toy.span_lines().splitlines()
    first = json.loads(lines[0])
    first["mentions"] = [{**first["mentions"][0], "end": first["mentions"][0]["end"] - 1}]
    first["mentions"].append({"start": 0, "end": 6, "type": "Chemical"})
    first["mentions"].append({"start": 0, "end": 4, "type": "Chemical"})
    found = toy.score(tmp_path, "ner", "\n".join([json.dumps(first), *lines[1:]]) + "\n")
    where = f"{tmp_path}/predictions:1"
    assert found.left_aside() == [
        "2 of 23 spans fit no words, and count as false positives",
        f"  {where}: 0-4 overlaps another mention",
        f"  {where}: 9-17 begins or ends inside of a word",
    ]
    assert found.summary()["unaligned"][1] == [where, 9, 17, "Disease", "begins or ends inside of a word"]


def test_a_mention_across_sentences_is_lost(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    first = " ".join(toy.examples("ner")[0].words)  # type: ignore[attr-defined]
    end = len(first) + 1 + len("Case")
    added = f"500\t{len(first) - 1}\t{end}\t. Case\tDisease\n"
    found = toy.score(tmp_path, "ner", toy.pubtator().replace("\n\n", f"\n{added}\n", 1))
    assert [one.why for one in found.submission.reading.lost] == ["crosses sentences of the dataset"]
    assert found.counts["predicted"] == found.counts["gold"] + 1 == found.counts["correct"] + 1
    shorter = f"500\t{len(first) - 1}\t{len(first)}\t.\tDisease\n"
    found = toy.score(tmp_path, "ner", toy.pubtator().replace("\n\n", f"\n{added}{shorter}\n", 1))
    lost = [(one.span.end, one.why) for one in found.submission.reading.lost]
    assert lost == [(len(first), "overlaps another mention"), (end, "crosses sentences of the dataset")]


def test_answers_that_cannot_be_read_are_refused_instead_of_scored(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    read = {one.id: ANSWERS[toy.gold(one)] for one in toy.examples("rel")[:6]}
    unread = {label: f"The answer is {answer}" for label, answer in ANSWERS.items()}
    half = toy.score(tmp_path, "rel", outputs("rel", unread, read), mapping=MAPPING)
    assert half.metrics["accuracy"] == 0.5 and half.left_aside()[0].startswith("6 of 12 answers")
    read.popitem()
    with pytest.raises(PubmillError, match=r"predictions:6: 7 of 12 answers have no mapping, the first of"):
        toy.score(tmp_path, "rel", outputs("rel", unread, read), mapping=MAPPING)


def test_marks_around_answers_are_counted(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    form = "<think>blocks or not?</think>\n```json\n{}\n```"
    answers = {label: form.replace("{}", json.dumps([answer])) for label, answer in ANSWERS.items()}
    found = toy.score(tmp_path, "rel", outputs("rel", answers), mapping=MAPPING)
    assert found.metrics["accuracy"] == 1.0
    assert found.summary()["read_by_rule"] == {"reasoning": 12, "fence": 12, "json": 12}
    assert all(line.startswith("12 of 12 answers ") for line in found.left_aside())


def test_mentions_are_given_by_their_texts(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    lines: list[dict[str, Any]] = [
        {"id": one.id, "mentions": [{"text": name, "type": kind} for kind, name in toy.named(one)]}
        for one in toy.examples("ner")
    ]
    lines[0]["mentions"].append({"text": "measles", "type": "Disease"})
    found = toy.score(tmp_path, "ner", lines)
    assert found.counts["predicted"] == found.counts["gold"] + 1 == found.counts["correct"] + 1
    assert found.submission.reading.unmapped == [(f"{tmp_path}/predictions:1", "measles")]
    assert "12 of 12 answers name mentions by their text" in found.left_aside()[0]
    lines[0]["mentions"].append({"text": "flu", "type": "Illness"})
    with pytest.raises(PubmillError, match="1 label that the dataset lacks: Illness"):
        toy.score(tmp_path, "ner", lines)


def test_ranked_answers_are_read_from_bullets_and_json(tmp_path: Path) -> None:
    toy.make(tmp_path, "qa")
    for form in ("1. {}\n2. wrong", '["{}", "wrong"]', '```json\n{"answer": "{}"}\n```', "{}"):
        rows: Any = toy.examples("qa")
        lines = [{"id": one.id, "output": form.replace("{}", one.golds[0])} for one in rows]
        found = toy.score(tmp_path, "qa", lines)
        assert found.metrics["mrr"] == 1.0, form


@pytest.mark.parametrize("key", ["answers", "prediction"])
@pytest.mark.parametrize("form", ['```json\n{"answer": "{}"}\n```', "- {}", "1. {}", '["{}"]'])
def test_marked_answers_to_questions_are_refused(form: str, key: str, tmp_path: Path) -> None:
    toy.make(tmp_path, "qa")
    rows: Any = toy.examples("qa")
    lines = [{"id": one.id, key: form.replace("{}", one.golds[0])} for one in rows]
    for one, line in zip(rows[:6], lines[:6], strict=True):
        line[key] = one.golds[0]
    half = toy.score(tmp_path, "qa", lines)
    assert half.metrics["mrr"] == 0.5
    lines[0][key] = form.replace("{}", "gene1")
    with pytest.raises(PubmillError, match=r"predictions:1: 7 of 12 answers begin with marks .*Nothing was"):
        toy.score(tmp_path, "qa", lines)


def test_a_file_that_is_a_column_is_scored_and_named(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    lines = [json.loads(line) for line in toy.jsonl("rel").splitlines()]
    other = tmp_path / "runs/blurb/model/rel/standard/final/seed-1.predictions.jsonl.gz"
    other.parent.mkdir(parents=True)
    write_jsonl_gz(other, reversed(lines))
    for found in (
        toy.score(tmp_path, "rel", toy.blurb_tsv()),
        score_submission(other, toy.recipe(tmp_path, "rel"), tmp_path),
    ):
        assert found.metrics["micro_f1"] == 1.0
        assert found.shown_left_aside() == [f"exactly the predictions of {other}"]
    dataset = tmp_path / "datasets/rel"
    with pytest.raises(PubmillError, match=f"exactly the predictions of {other}, which another column has"):
        supply(SuppliedRecipe(system=toy.SYSTEM), other, dataset, [other])
    lines[0]["label"] = "activates"
    write_jsonl_gz(other, lines)
    assert toy.score(tmp_path, "rel", toy.blurb_tsv()).left_aside() == []
    write_jsonl_gz(other, constant := [line | {"label": "blocks"} for line in lines])
    found = toy.score(tmp_path, "rel", constant)  # equal, but no copy
    assert found.metrics["accuracy"] == pytest.approx(4 / 12) and found.left_aside() == []


def test_credentialed_datasets_need_a_local_system_and_show_no_text(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel", access="credentialed")
    hosted = System(name="hosted", version="1", url="https://example.org")
    for system in (None, hosted):
        with pytest.raises(PubmillError, match=r"physionet's rule.*`local: true`"):
            toy.score(tmp_path, "rel", toy.jsonl("rel"), system=system)
    assert toy.score(tmp_path, "rel", toy.jsonl("rel")).metrics["micro_f1"] == 1.0
    secret = "The patient Jane was admitted"
    damages = [
        toy.jsonl("rel").replace('"blocks"', json.dumps(secret)),
        toy.jsonl("rel").replace('"id": "1000.T1"', json.dumps({"id": secret})[1:-1]),
        toy.blurb_tsv().replace("In 2 assays", secret), f"{secret}\n" * 3,
        toy.jsonl("rel").replace('"label"', json.dumps(secret), 1), f"1|t|{secret}\n1\t0\t3\t{secret}\tx\n",
        f"<collection><document><id>{secret}</id><x/></document></collection>",
    ]  # fmt: skip
    for content in damages:
        with pytest.raises(PubmillError) as caught:
            toy.score(tmp_path, "rel", content)
        assert "Jane" not in str(caught.value) and "patient" not in str(caught.value)
    withheld = "predictions: not valid bioc-xml; the message is withheld, as it may contain licensed text"
    for access in ("credentialed", "public"):
        toy.make(tmp_path, "ner", access=access)
        with pytest.raises(PubmillError) as caught:
            toy.score(tmp_path, "ner", "<collection><document><id>SECRET</id>")
        assert (withheld in str(caught.value)) is (access == "credentialed")
    content = outputs("rel", ANSWERS, {"1000.T1": secret})
    found = toy.score(tmp_path, "rel", content, mapping=MAPPING)
    assert not any("Jane" in line for line in found.left_aside()) and len(found.left_aside()) == 2


def test_unforeseen_errors_show_no_licensed_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise ValueError("The patient Jane")

    monkeypatch.setattr(submission, "match", fail)
    toy.make(tmp_path, "rel", access="registration")
    withheld = r"ValueError at test_predictions.py:\d+; its message is withheld"
    with pytest.raises(PubmillError, match=withheld) as caught:
        toy.score(tmp_path, "rel", toy.jsonl("rel"))
    assert "Jane" not in str(caught.value) and caught.value.__suppress_context__
    toy.make(tmp_path, "rel")
    with pytest.raises(ValueError, match="Jane"):
        toy.score(tmp_path, "rel", toy.jsonl("rel"))


def test_a_card_that_lacks_something_is_reported(tmp_path: Path) -> None:
    card = toy.make(tmp_path, "ner") / "card.json"
    whole = json.loads(card.read_text())
    lacking = [{name: whole[name] for name in whole if name != key} for key in whole]
    for content in (*lacking, whole | {"splits": ["other"]}, [whole], None):
        card.write_text(json.dumps(content))
        with pytest.raises(PubmillError, match=r"card\.json: not the card of a dataset .*convert"):
            toy.recipe(tmp_path, "ner")


def normaliser(kind: str, labels: tuple[str, ...] = ("a", "b"), **changes: Any) -> Normaliser:
    fixed: dict[str, Any] = {"access": "public", "split": "test", "metric": "x", "negative": None}
    optional: dict[str, Any] = {"dummies": None, "form": None, "mapping": {}, "system": None}
    return Normaliser(
        SubmissionRecipe(dataset="d", kind=kind, labels=labels, **(fixed | optional | changes))  # type: ignore[arg-type]
    )


def made(kind: str, key: str, value: Any, words: str = "", **changes: Any) -> Any:
    row = PredictionRow(where="f:1", id="1", key=key, value=value)  # type: ignore[arg-type]
    example = SimpleNamespace(id="1", words=words.split(), labels=[], context="", items=[])
    [line] = normaliser(kind, **changes).rows([row], [example])
    return {name: value for name, value in line.items() if name != "id"}


@pytest.mark.parametrize(
    ("kind", "key", "value", "expected"),
    [
        *(("regression", key, value, {"score": score}) for key, value, score in (
            ("score", 3, 3.0), ("prediction", "4.", 4.0), ("prediction", "-1e2", -100.0),
            ("output", "2.5.", 2.5),
        )),
        *(("regression", key, value, "f:1: expected a finite number") for key, value in (
            ("score", True), ("score", "high"), ("prediction", ".5"), ("prediction", "1e999"),
            ("prediction", " 3"), ("score", None), ("score", float("inf")), ("prediction", "1_0"),
        )),
        ("multilabel", "labels", ["b", "a"], {"labels": ["a", "b"]}),
        ("multilabel", "prediction", "b|a", {"labels": ["a", "b"]}),
        ("multilabel", "prediction", "", {"labels": []}),
        ("multilabel", "labels", ["a", "a"], "f:1: a label occurs twice"),
        ("multilabel", "label", "a", "f:1: expected a list of labels"),
        ("multilabel", "prediction", 3, "f:1: expected a list of labels"),
        ("sequence", "label", "a", {"label": "a"}),
        ("sequence", "prediction", "b", {"label": "b"}),
        ("sequence", "labels", ["a"], "f:1: expected one label"),
        ("sequence", "prediction", ["a"], "f:1: expected one label"),
        ("sequence", "label", "c", "f:1: 1 label that the dataset lacks: c; it has a, b"),
        ("span", "output", " x ", {"answers": [{"text": "x", "probability": 1.0}]}),
        ("span", "prediction", "x", {"answers": [{"text": "x", "probability": 1.0}]}),
        ("span", "label", "x", "f:1: expected answers"),
        ("relations", "prediction", [["x", "y", "b"], ["w", "x", "a", "No"]],
         {"relations": [["w", "x", "a", "No"], ["x", "y", "b"]]}),
        ("relations", "output", "a: x | y\nnothing else\n", {"relations": [["x", "y", "a"]]}),
        ("relations", "output", '{"relations": ["b: x | y"]}', {"relations": [["x", "y", "b"]]}),
        ("relations", "output", "None.", {"relations": []}),
        ("relations", "output", "x and y", "f:1: 1 of 1 answers have no mapping"),
        ("relations", "prediction", [["x", "y"]], "f:1: expected a list: relations must be"),
        ("relations", "prediction", [["x", "y", "c"]], "1 label that the dataset lacks: c"),
    ],
)  # fmt: skip
def test_values_of_a_kind(kind: str, key: str, value: Any, expected: Any) -> None:
    if not isinstance(expected, str):
        assert made(kind, key, value) == expected
        return
    with pytest.raises(PubmillError, match=expected):
        made(kind, key, value)


def test_labels_of_words_are_those_of_the_dataset_or_mapped() -> None:
    assert made("tokens", "labels", ["S-a", "O"], "x y") == {"labels": ["B-a", "O"]}
    assert made("tokens", "prediction", ["O", "B-c"], "x y", mapping={"c": "b"}) == {"labels": ["O", "B-b"]}
    assert made("tokens", "labels", ["B-c", "I-c"], "x y", labels=("",), mapping={"c": ""}) == {
        "labels": ["B", "I"]
    }
    for value, message in (
        (["B-a", 3], "expected a list of mentions"),
        (["B-a", "X"], "expected BIO labels or `mentions`; found X"),
        ("B-a O", "expected a list of mentions"),
        ([0, 1], "numbers in place of labels"),
    ):
        with pytest.raises(PubmillError, match=f"f:1: {message}"):
            made("tokens", "prediction", value, "x y")
    with pytest.raises(PubmillError, match="f:1: 1 labels for the 2 words of 1"):
        made("tokens", "labels", ["O"], "x y")


def test_every_occurrence_of_a_named_mention_counts() -> None:
    mapping = {"a": "a", "drug": "b", "none": ""}
    line = made("tokens", "output", "Drug: flu\nnone", "flu and flu", mapping=mapping)
    assert line == {"labels": ["B-b", "O", "B-b"]}
    one = {"labels": ("a",), "mapping": {"a": "a"}}
    assert made("tokens", "output", "flu", "flu and x:y", **one) == {"labels": ["B-a", "O", "O"]}
    assert made("tokens", "output", "x:y", "flu and x:y", **one) == {"labels": ["O", "O", "B-a"]}
    assert place_words("x" * FURTHEST + "word", ["word"]) == [(FURTHEST, FURTHEST + 4)]
    assert place_words("x" * (FURTHEST + 1) + "word", ["word"]) == [None]


def test_predictions_are_constant_by_their_meaning() -> None:
    assert is_constant([{"id": "1", "labels": ["O"]}, {"id": "2", "labels": ["O", "O"]}])
    assert not is_constant([{"id": "1", "labels": ["O"]}, {"id": "2", "labels": ["B"]}])
    assert is_constant([{"id": "1", "labels": ["x"]}, {"id": "2", "labels": ["x"]}])
    assert not is_constant([{"id": "1", "score": 1.0}, {"id": "2", "score": 2.0}])
    assert is_constant([{"id": "1", "label": "a", "subword_labels": [1]}, {"id": "2", "label": "a"}])


def test_mentions_that_nest_stay_and_lists_are_whole() -> None:
    spans = [PredictedSpan(0, 8, "a"), PredictedSpan(4, 8, "b"), PredictedSpan(0, 3, "a")]
    found = made("mentions", "mentions", spans, words="old gene x")
    assert found == {"mentions": [[0, 1, "a"], [0, 2, "a"], [1, 2, "b"]]}
    with pytest.raises(PubmillError, match="2 of 2 spans begin or end inside"):
        made("mentions", "mentions", [PredictedSpan(1, 3, "a"), PredictedSpan(0, 5, "b")], words="old gene")
    row = PredictionRow(where="f:1", id="1", key="answers", value=[("x", 1.0), ("y", 0.5)])
    example = SimpleNamespace(id="1", words=[], context="", items=[["x"], ["z"]])
    [line] = normaliser("span").rows([row], [example])
    assert [one["probability"] for one in line["answers"]] == [1.0, 1.0]
