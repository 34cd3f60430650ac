"""Made-up cards of datasets of every kind, as a conversion writes them."""

import json
from pathlib import Path
from typing import Any

COUNTS: dict[str, dict[str, int | None]] = {
    "tokens": {"sentences": 3, "tokens": 30, "mentions": 2, "tokens_in_mentions": 5, "distinct_words": 20,
     "longest_sentence": 12, "illegal_starts": 0, "words.Drug": 3, "mentions.Drug": 2},
    "sequence": {"examples": 10, "labels.CPR:3": 2, "labels.false": 8, "contradictory_texts": 1},
    "multilabel": {"examples": 4, "sentences": 9, "without_label": 1, "labels.a": 3, "labels.b": 1},
    "regression": {"examples": 4, "ratings": 20},
    "relations": {
        "examples": 4, "mentions": 20, "pairs": 9, "relations": 5, "without_pair": 1, "novel": 2,
        "labels.r": 3, "labels.s": 2,
    },
    "mentions": {
        "sentences": 4, "tokens": 40, "mentions": 6, "nested": 2, "longest_mention": 5, "mentions.Drug": 6,
    },
    "span": {
        "examples": 6, "questions": 5, "contexts": 4, "unanswerable": 1, "answers": 7, "distinct_answers": 3,
        "fewest_repeats": 1, "most_repeats": 4, "fewest_repeats_of_pair": 1, "most_repeats_of_pair": 2,
    },
}  # fmt: skip
COMMON = {"documents": None, "repeated_documents": 0, "repeated_texts": 1}


def card(dataset: str, kind: str, **changes: Any) -> dict[str, Any]:
    """A card with train and test (of equal counts), one source, and one overlap between the splits."""
    counts = {**COUNTS[kind], **COMMON, "left_out.no_sentence": 7}
    first = next(iter(COUNTS[kind]))
    return {
        "dataset": dataset, "kind": kind, "access": "public", "converter": "pubmill.convert.somewhere:read",
        "metric": "micro_f1", "version": 3, "expect": {"train": {first: counts[first]}},
        "counts": {"test": dict(counts), "train": dict(counts)},
        "lengths": {
            split: {"mean": 12.25, "median": 11, "p95": 30, "max": 60} for split in ("test", "train")
        },
        "overlaps": [{"split": "test", "with": "train", "texts": 3, "documents": None}],
        "sources": {"archive": {"file": "corpus.zip", "bytes": 5, "sha256": "5" * 64}},
        "examples_sha256": {"train": "a" * 64, "test": "b" * 64}, **changes,
    }  # fmt: skip


def write(results: Path, made: dict[str, Any]) -> None:
    path = results / "datasets" / made["dataset"] / "card.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made))
