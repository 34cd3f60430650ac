"""Supplied predictions split by what their items share with training."""

import json
from pathlib import Path

import pytest

pytest.importorskip("pubmill.extras.submissions")
from pubmill.examples.kinds import write_examples
from pubmill.extras.overlap.overlap_of_runs import overlaps_of_runs
from pubmill.extras.submissions.supplied import report, supply
from pubmill.metrics import SCORERS
from pubmill.metrics.records import score_run, write_record
from pubmill.metrics.training_overlap import Counts, total
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.storage.files import write_json, write_jsonl_gz
from tests.unit.extras.submissions import toy_datasets as toy


def supplied_run(
    results: Path, name: str, predictions: str, mapping: dict[str, str | None]
) -> tuple[Path, dict[str, int]]:
    """The folder of a run of supplied predictions, scored as the graph does it, and the counts of its
    record."""
    dataset = toy.make(results, name)
    write_examples(dataset / "train.jsonl.gz", toy.examples(name)[:4])
    (results / "llm.jsonl").write_text(predictions)
    supplied = SuppliedRecipe(system=toy.SYSTEM, mapping=mapping)
    submission, reading = supply(supplied, results / "llm.jsonl", dataset, [])
    run = results / f"runs/off-the-shelf/llm/{name}/as-it-is"
    (run / "final").mkdir(parents=True)
    write_jsonl_gz(run / "final/seed-1.predictions.jsonl.gz", submission.lines)
    write_json(run / "final/seed-1.training.json", report(submission, reading, dataset, "llm", 1))
    scoring = ScoringRecipe(
        model="llm",
        dataset=name,
        protocol="off-the-shelf",
        setting="as-it-is",
        scale="small",
        seed=1,
        split="test",
        kind=reading.kind,
        metric=reading.metric,
        negative=reading.negative,
        versions={},
    )
    files = (f"final/seed-1.{end}" for end in ("predictions.jsonl.gz", "training.json"))
    predicted, trained = (run / file for file in files)
    made, _ = score_run(scoring, SCORERS[reading.kind], predicted, dataset / "test.jsonl.gz", trained)
    write_record(run / "final/seed-1.json", made)
    assert made.counts
    return run, made.counts


def test_supplied_predictions_are_split(tmp_path: Path) -> None:
    """Mentions as spans, and free answers for relations, of which some have no mapping."""
    run, counts = supplied_run(tmp_path, "ner", toy.span_lines(), {})
    [found] = overlaps_of_runs([run], ("train",))
    whole = total(found.parts["mentions"].values())
    assert whole == Counts(counts["gold"], counts["predicted"], counts["correct"]) and whole.correct
    answers = ("It activates.", "who knows", "none")
    lines = [{"id": one.id, "output": answers[n % 3]} for n, one in enumerate(toy.examples("rel"))]
    predictions = "".join(json.dumps(one) + "\n" for one in lines)
    run, counts = supplied_run(tmp_path, "rel", predictions, {"it activates": "activates", "none": "none"})
    [found] = overlaps_of_runs([run], ("train",))
    whole = total(found.parts["arguments"].values())
    assert whole == Counts(counts["gold"], counts["predicted"], counts["correct"])
    assert found.parts["arguments"]["pair"].gold and whole.predicted == 8
