"""Predictions are sealed in their run's report, and edited ones are refused."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage.checksums import check_predictions, is_as_written, report_of, write_predictions
from pubmill.storage.files import write_jsonl_gz


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    path = tmp_path / "seed-1.predictions.jsonl.gz"
    write_predictions(path, [{"id": "1", "label": "yes"}], {"seed": 1})
    return path


def test_edited_predictions_are_refused_with_what_to_do(predictions: Path) -> None:
    report = report_of(predictions)
    assert report["seed"] == 1 and is_as_written(predictions, report) is True
    check_predictions(predictions, report)
    write_jsonl_gz(predictions, [{"id": "1", "label": "no"}])
    with pytest.raises(PubmillError, match=r"has changed since its run wrote it.*fsck. prints"):
        check_predictions(predictions, report_of(predictions))
    write_jsonl_gz(predictions, [{"id": "1", "label": "no"}])
    assert is_as_written(predictions, {"seed": 1}) is None
    check_predictions(predictions, {"seed": 1})
    predictions.with_name("seed-1.training.json").unlink()
    assert report_of(predictions) == {}
