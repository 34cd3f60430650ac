"""Records in the schema of Every Eval Ever 0.3, and BLURB's submission."""

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from pubmill.convert.dataset_counts import count
from pubmill.examples.kinds import write_examples
from pubmill.predictions import written_scores
from pubmill.recipes.submissions import System
from pubmill.storage.files import write_json
from tests.unit.metrics.toy_predictions import MENTIONS, RELATIONS
from tests.unit.predictions import toy_datasets as toy

TEXT, NUMBER, DIGITS = {"type": "string"}, {"type": "number"}, {"type": "string", "pattern": "^[0-9]+$"}
TEXTS = {"type": "array", "items": TEXT}
DETAILS = {"type": "object", "additionalProperties": TEXT}


def closed(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the schema of an object with these keys only."""
    properties = {**required, **(optional or {})}
    keys = {"required": [*required], "properties": properties}
    return {"type": "object", "additionalProperties": False, **keys}


def texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, TEXT)


AVAILABILITY = {
    "deployment_type": {"enum": ["self_deployed", "externally_managed", "unknown"]},
    "model_availability": {"enum": ["open_weights", "closed_weights", "unknown"]},
}
MODEL = closed({
    "name": TEXT, "id": {"type": "string", "pattern": "^[^/]+/[^/]+$"},
    "additional_details": DETAILS | {"required": [*AVAILABILITY], "properties": AVAILABILITY},
})  # fmt: skip
METRIC = closed({
    **texts("metric_id", "metric_name", "evaluation_description"), "lower_is_better": {"const": False},
    "score_type": {"const": "continuous"}, "min_score": NUMBER, "max_score": NUMBER,
})  # fmt: skip
RESULT = closed(
    {
        **texts("evaluation_result_id", "evaluation_name"), "metric_config": METRIC,
        "source_data": closed(
            {"dataset_name": TEXT, "source_type": {"const": "other"}}, {"additional_details": DETAILS}
        ),
        "score_details": closed({"score": NUMBER, "details": DETAILS}),
    },
    {"generation_config": closed({"generation_args": closed({"prompt_template": TEXT})})},
)  # fmt: skip
SOURCE = closed({
    **texts("source_name", "source_organization_name"),
    "source_type": {"enum": ["documentation", "evaluation_run"]},
    "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]},
})  # fmt: skip
FILE = (
    "^data/[^/]+/[^/]+/[^/]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    r"_samples\.jsonl$"
)
SAMPLES = closed({
    "format": {"const": "jsonl"}, "file_path": {"type": "string", "pattern": FILE},
    "hash_algorithm": {"enum": ["sha256", "md5"]}, "checksum": TEXT, "total_rows": {"type": "integer"},
})  # fmt: skip
EVALUATION = closed(
    {
        "schema_version": {"const": "0.3.0"}, "evaluation_id": TEXT, "retrieved_timestamp": DIGITS,
        "source_metadata": SOURCE, "eval_library": closed(texts("name", "version")), "model_info": MODEL,
        "evaluation_results": {"type": "array", "items": RESULT, "minItems": 1},
    },
    {"detailed_evaluation_results": SAMPLES},
)  # fmt: skip
"""The schema's facts (evaleval/every_eval_ever, eval.schema.json 0.3.0) on the keys that are written."""
ATTRIBUTION = closed({
    "turn_idx": {"type": "integer", "minimum": 0}, "is_terminal": {"type": "boolean"},
    **texts("source", "extracted_value", "extraction_method"),
})  # fmt: skip
SAMPLE = closed({
    "schema_version": {"const": "0.3.0"}, "interaction_type": {"const": "single_turn"},
    **texts("evaluation_id", "model_id", "evaluation_name", "evaluation_result_id", "sample_id"),
    "sample_hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "input": closed({"raw": TEXT, "reference": TEXTS}), "output": closed({"raw": TEXTS}),
    "messages": {"type": "null"}, "answer_attribution": {"type": "array", "items": ATTRIBUTION},
    "evaluation": closed({"score": NUMBER, "is_correct": {"type": "boolean"}}),
})  # fmt: skip
"""The facts of instance_level_eval.schema.json 0.3.0 on the keys that are written."""


@pytest.mark.parametrize("name", toy.KINDS)
def test_records_have_the_form_of_every_eval_ever(name: str, tmp_path: Path) -> None:
    toy.make(tmp_path, name)
    found = toy.score(tmp_path, name, toy.jsonl(name))
    samples_path, path = written_scores.write_evaluation(tmp_path, found, 1_700_000_000, "0.1.0")
    evaluation, samples = json.loads(path.read_text()), samples_path.read_text()
    jsonschema.validate(evaluation, EVALUATION)
    scores = {
        one["evaluation_result_id"]: one["score_details"]["score"] for one in evaluation["evaluation_results"]
    }
    assert scores == {f"{name}.{metric}": value for metric, value in found.metrics.items()}
    assert next(iter(scores)) == f"{name}.{toy.METRICS[name]}"
    detailed = evaluation["detailed_evaluation_results"]
    assert tmp_path / detailed["file_path"] == samples_path
    assert detailed["checksum"] == hashlib.sha256(samples.encode()).hexdigest()
    rows = [json.loads(line) for line in samples.splitlines()]
    assert detailed["total_rows"] == len(rows) == 12
    for row, example in zip(rows, toy.examples(name), strict=True):
        jsonschema.validate(row, SAMPLE)
        assert row["sample_id"] == example.id and row["evaluation"] == {"score": 1.0, "is_correct": True}
        assert (row["evaluation_id"], row["model_id"]) == (evaluation["evaluation_id"], "example/llm")
        assert row["evaluation_result_id"] in scores
        assert not set(json.loads(row["input"]["raw"])) & {"label", "labels", "score", "answers"}


def test_an_evaluation_has_the_range_of_each_metric_and_what_was_left_aside(tmp_path: Path) -> None:
    toy.make(tmp_path, "sim")
    found = toy.score(tmp_path, "sim", toy.jsonl("sim"))
    *_, path = written_scores.write_evaluation(tmp_path, found, 7, "0.1.0")
    [pearson, *others] = json.loads(path.read_text())["evaluation_results"]
    assert (pearson["metric_config"]["min_score"], pearson["metric_config"]["max_score"]) == (-1.0, 1.0)
    assert all(one["metric_config"]["min_score"] == 0.0 for one in others)
    toy.make(tmp_path, "rel")
    lines = toy.jsonl("rel").replace('"label": "blocks"', '"output": "?"', 1)
    system = System(name="llm", version="3", url="https://example.org")
    mapping = {label: label for label in toy.LABELS}
    found = toy.score(tmp_path, "rel", lines, system=system, mapping=mapping)
    *_, path = written_scores.write_evaluation(tmp_path, found, 7, "0.1.0")
    made = json.loads(path.read_text())
    assert made["retrieved_timestamp"] == "7" and made["eval_library"]["version"] == "0.1.0"
    assert made["model_info"]["id"] == "unknown/llm" and path.is_relative_to(
        tmp_path / "data/rel/unknown/llm"
    )
    details = made["model_info"]["additional_details"]
    assert (details["deployment_type"], details["url"]) == ("unknown", "https://example.org")
    first = made["evaluation_results"][0]
    assert first["metric_config"]["max_score"] == 1.0 and "generation_config" not in first
    assert first["source_data"]["additional_details"] == {"split": "test", "examples": "12"}
    counts = {name: str(number) for name, number in found.counts.items()}
    assert first["score_details"]["details"] == counts | {"unaligned_spans": "0", "unmapped_answers": "1"}


def test_characters_of_inputs_and_predictions_are_not_escaped(tmp_path: Path) -> None:
    toy.make(tmp_path, "doc")
    found = toy.score(tmp_path, "doc", toy.jsonl("doc"))
    object.__setattr__(found.examples[0], "text", "β-actin")
    object.__setattr__(found.examples[0], "labels", ["β"])
    samples, _ = written_scores.write_evaluation(tmp_path, found, 1, "0.1.0")
    first = json.loads(samples.read_text().splitlines()[0])
    assert '"text": "β-actin"' in first["input"]["raw"] and first["input"]["reference"] == ['["β"]']
    assert "β-actin" in samples.read_text()


def test_a_wrong_prediction_is_marked_in_its_record(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    found = toy.score(tmp_path, "rel", toy.jsonl("rel").replace('"blocks"', '"none"', 1))
    samples, _ = written_scores.write_evaluation(tmp_path, found, 1, "0.1.0")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    assert [row["evaluation"]["is_correct"] for row in rows] == [False] + [True] * 11
    assert (rows[0]["input"]["reference"], rows[0]["output"]["raw"]) == (["blocks"], ["none"])


def test_a_dataset_that_is_not_public_has_no_instance_records(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel", access="registration")
    found = toy.score(tmp_path, "rel", toy.jsonl("rel"), system=System(name="a b", version="1", url="u"))
    [path] = written_scores.write_evaluation(tmp_path, found, 1, "0.1.0")
    text = path.read_text()
    evaluation = json.loads(text)
    jsonschema.validate(evaluation, EVALUATION)
    assert evaluation["model_info"]["id"] == "unknown/a-b" and "assays" not in text


@pytest.mark.parametrize(
    ("kind", "metric", "examples", "gold"),
    [
        ("relations", "relation_f1", RELATIONS, [["x", "y", "r"]]),
        ("mentions", "entity_f1", MENTIONS, [[0, 2, "x"]]),
    ],
)
@pytest.mark.parametrize("right", [True, False])
def test_relations_and_nested_mentions_have_records_too(
    tmp_path: Path, kind: str, metric: str, examples: list[Any], gold: list[Any], right: bool
) -> None:
    folder = tmp_path / "datasets/some"
    write_examples(folder / "test.jsonl.gz", examples)
    card = {"dataset": "some", "kind": kind, "access": "public", "splits": ["test"], "metric": metric}
    write_json(folder / "card.json", {**card, "negative": None, "counts": {"test": count(examples)}})
    said = gold if right else []
    given = [{"start": 0, "end": 3, "type": "x"}] if right and kind == "mentions" else said
    found = toy.score(tmp_path, "some", json.dumps({"id": examples[0].id, kind: given}) + "\n")
    samples, _ = written_scores.write_evaluation(tmp_path, found, 1, "0.1.0")
    [row] = map(json.loads, samples.read_text().splitlines())
    jsonschema.validate(row, SAMPLE)
    assert row["input"]["reference"] == [json.dumps(gold)] and row["output"]["raw"] == [json.dumps(said)]
    assert row["evaluation"] == {"score": float(right), "is_correct": right}
