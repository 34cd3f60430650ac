"""Submissions of predictions that others published, for two boards of this folder.

    .venv/bin/python boards/published.py [--results results/full] [--mirror DIR]
    .venv/bin/pubmill board boards/bc5-disease
    .venv/bin/pubmill board boards/pubmedqa

The files have no licence to copy them, or stand inside of their dataset, so they are downloaded from their
addresses, pinned by SHA-256, and written as submissions. The words of the BioBERT files have no ids and
other ends of sentences: each sentence of the converted dataset is looked up in them.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml

from pubmill.errors import PubmillError, run
from pubmill.extras.board.board_files import CARD, SUBMISSIONS
from pubmill.messages.wording import counted
from pubmill.storage.files import read_jsonl_gz, write_jsonl_gz, writing
from pubmill.storage.sources import download

BOARDS = Path(__file__).resolve().parent
GITHUB = "https://raw.githubusercontent.com"
SUBMITTED = date(2026, 11, 27)
ANNOTATED = "1cbae8e92f72f20c8d3747cbb3bf5bc53554d997/data/ori_pqal.json"


class Published(NamedTuple):
    """A file of predictions that somebody published; `field`: the answer's key in a file of questions."""

    dataset: str
    name: str
    label: str
    system: str
    version: str
    url: str
    sha256: str
    field: str = ""

    def card(self) -> str:
        """Return the statement that a board asks for, as YAML."""
        page = f"https://github.com/{self.system}"
        system = {"name": self.system, "version": self.version, "url": page, "local": True}
        card = {"label": self.label, "submitted": SUBMITTED, "system": system}
        return yaml.safe_dump(card, sort_keys=False)


PUBLISHED = (
    Published(
        "bc5-disease", "biobert", "BioBERT of Kishore M", "kishore7eng/Bio-BERT", "commit 46de283",
        f"{GITHUB}/kishore7eng/Bio-BERT/46de2830d5d2f08b2697fae4fe9e04d19e5c0a25/test_predictions.txt",
        "65150b5335f8a6fe1c2cd14589c0e5c427749e0f6bcda3dc20a07fe467ba9863",
    ),
    Published(
        "bc5-disease", "biobert-crf", "BioBERT of Kishore M with a CRF", "kishore7eng/Bio-BERT-CRF",
        "commit e1e4a6b",
        f"{GITHUB}/kishore7eng/Bio-BERT-CRF/e1e4a6bd837851bd0266bb27ffe95a8bd7c68225/test_predictions.txt",
        "b1276ab4e131f8dddd7d581c2707438dcec5e27e46cccf6d71ae4ec568d9c3b1",
    ),
    *(
        Published(
            "pubmedqa", f"annotator-{name}", label, "pubmedqa/pubmedqa", f"{field}, commit 1cbae8e",
            f"{GITHUB}/pubmedqa/pubmedqa/{ANNOTATED}",
            "8b3276be8942ebbd77f3ddcda12c1749bf0e490045a736fd8438ee40cf37a41d",
            field,
        )
        for name, label, field in (
            ("reasoning-required", "One annotator, without the conclusion", "reasoning_required_pred"),
            ("reasoning-free", "One annotator, with the conclusion", "reasoning_free_pred"),
        )
    ),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("results/full"), help="with the datasets")
    parser.add_argument("--mirror", help="folder with HOST/PATH, in place of the network")
    given = parser.parse_args()
    for one in PUBLISHED:
        folder = BOARDS / one.dataset / SUBMISSIONS / one.name
        rows = submission(one, given.results, given.mirror)
        folder.mkdir(parents=True, exist_ok=True)
        write_jsonl_gz(folder / f"{one.dataset}.jsonl.gz", rows)
        with writing(folder / CARD) as temporary:
            temporary.write_text(one.card(), encoding="utf-8")
        print(f"{folder}: {counted(len(rows), 'prediction')}")


def submission(one: Published, results: Path, mirror: str | None) -> list[dict[str, object]]:
    """Download published predictions, and return them by id of the dataset's test examples."""
    data = results / "datasets" / one.dataset / "test.jsonl.gz"
    if not data.is_file():
        raise PubmillError(f"{data} is missing. Make it: pubmill run datasets {data.parent / 'card.json'}")
    with TemporaryDirectory() as place:
        file = Path(place) / "predictions"
        download(one.url, file, mirror, one.sha256)
        text = file.read_text(encoding="utf-8")
    if one.field:
        answers = json.loads(text)
        return [{"id": row["id"], "label": answers[row["id"]][one.field]} for row in read_jsonl_gz(data)]
    return [{"id": key, "labels": labels} for key, labels in _labels(text, read_jsonl_gz(data))]


def _labels(text: str, examples: Iterable[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the predicted labels of each sentence, which is looked up among all words of the file.

    A sentence that occurs several times must have the same labels everywhere. The last word of a sentence,
    which the first file lacks once, gets the label O.
    """
    words, labels = zip(*(line.split(" ") for line in text.splitlines() if line), strict=True)
    places = defaultdict[str, list[int]](list)
    for place, word in enumerate(words):
        places[word].append(place)
    for row in examples:
        for wanted in (row["words"], row["words"][:-1]):
            size = len(wanted)
            found = {
                labels[place : place + size]
                for place in places[wanted[0]]
                if words[place : place + size] == tuple(wanted)
            }
            if found:
                break
        if len(found) != 1:
            raise PubmillError(f"{row['id']}: the file has {len(found)} predictions of this sentence")
        yield row["id"], [*found.pop(), *["O"] * (len(row["words"]) - size)]


if __name__ == "__main__":
    run(main)
