"""Published predictions without ids, as submissions to a board."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from boards.published import Published, submission
from pubmill.errors import PubmillError

FILE = "No O\nasthma B\n. O\n\nAcute B\npain I\nwas O\nseen O\nNo O\nasthma B\n. O\n"


def read(folder: Path, text: str, *sentences: str, field: str = "") -> list[dict[str, object]]:
    """Read a file of predictions for a dataset with these test sentences."""
    data = folder / "results/datasets/made/test.jsonl.gz"
    data.parent.mkdir(parents=True)
    lines = [json.dumps({"id": f"test-{n}", "words": one.split()}) for n, one in enumerate(sentences, 1)]
    data.write_bytes(gzip.compress("\n".join(lines).encode()))
    file = folder / "predictions.txt"
    file.write_text(text)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    one = Published("made", "a", "A", "a", "1", file.as_uri(), digest, field)
    return submission(one, folder / "results", None)


def test_sentences_are_found_in_another_order_and_without_their_full_stop(tmp_path: Path) -> None:
    assert read(tmp_path, FILE, "Acute pain was seen .", "No asthma .") == [
        {"id": "test-1", "labels": ["B", "I", "O", "O", "O"]},
        {"id": "test-2", "labels": ["O", "B", "O"]},
    ]


@pytest.mark.parametrize(
    ("text", "found"), [(FILE + "No O\nasthma O\n. O\n", "has 2"), ("No O\npain B\n. O\n", "has 0")]
)
def test_a_sentence_with_two_predictions_or_none_is_named(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(PubmillError, match=f"test-1: the file {found} predictions"):
        read(tmp_path, text, "No asthma .")


def test_answers_are_taken_by_id_and_gold_is_left(tmp_path: Path) -> None:
    text = json.dumps({name: {"mine": "yes", "gold": "no"} for name in ("test-1", "test-2")})
    assert read(tmp_path, text, "Is it ?", field="mine") == [{"id": "test-1", "label": "yes"}]


def test_other_bytes_than_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    one = Published("made", "a", "A", "a", "1", (tmp_path / "p").as_uri(), "0" * 64)
    (tmp_path / "p").write_text(FILE)
    data = tmp_path / "datasets/made/test.jsonl.gz"
    data.parent.mkdir(parents=True)
    data.write_bytes(gzip.compress(b'{"id": "test-1", "words": ["No"]}\n'))
    with pytest.raises(PubmillError, match="sha256"):
        submission(one, tmp_path, None)
