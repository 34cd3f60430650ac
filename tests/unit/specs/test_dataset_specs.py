"""Specs of datasets: one check for each file, own converters, and keys that need or exclude each other."""

from typing import Any

import pytest
from pydantic import ValidationError

from pubmill.specs import DatasetSpec

URL = "https://example.org/train.tsv"
SHA, BLOB = "a" * 64, "b" * 40
OWN = {"local": "mine", "file": "reader.py"}
PAGE = "https://example.org/apply"
TOKENS = {"kind": "tokens", "task": "ner", "metric": "entity_f1", "negative": ...}
POSITIVE = {"metric": "positive_f1", "task": "classification"}
COPIES = [{"url": URL, "sha256": SHA}]


def dataset(**changes: Any) -> DatasetSpec:
    """A dataset of labelled texts; a change to `...` leaves the key out."""
    values: dict[str, Any] = {
        "name": "mine", "kind": "sequence", "task": "relation", "domain": "biomedical", "sources": {},
        "access": "public", "licence": "CC0", "converter": "pubmill.convert.tsv:read", "expect": {},
        "metric": "micro_f1", "negative": None, "version": 1,
    }  # fmt: skip
    given = {key: value for key, value in (values | changes).items() if value is not ...}
    return DatasetSpec.model_validate(given)


def file(**checks: str) -> dict[str, Any]:
    return {"sources": {"train": {"url": URL, **checks}}}


def own(**sources: Any) -> dict[str, Any]:
    return {"converter": "reader:read", "sources": sources}


@pytest.mark.parametrize(
    "changes",
    [
        file(sha256=SHA), file(git_blob=BLOB), file(unchecked="made anew each day"), own(converter=OWN),
        TOKENS | {"copies": COPIES}, TOKENS | {"mentions": "gene"}, {"negative": "none"},
        POSITIVE | {"negative": "no"}, {"access": "credentialed", "apply": PAGE}, {"access": "local"},
    ],
)  # fmt: skip
def test_keys_that_fit_each_other_are_accepted(changes: dict[str, Any]) -> None:
    dataset(**changes)


ONE_CHECK = "give exactly one of sha256, git_blob and unchecked"
OWN_FILE = "needs the source `converter: {local: KEY, file: reader.py}`; one of pubmill is named"
SENTENCES = "only datasets of labelled words .kind tokens. have `"
APPLY = "`apply` .* is required if access is registration or credentialed"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (file(), ONE_CHECK),
        (file(sha256=SHA, git_blob=BLOB), ONE_CHECK),
        (file(sha256=SHA, unchecked="x"), ONE_CHECK),
        (own(), OWN_FILE),
        (own(train=OWN), OWN_FILE),
        (own(converter=OWN | {"file": "other.py"}), OWN_FILE),
        (own(converter={"url": "https://example.org/reader.py", "sha256": SHA}), OWN_FILE),
        ({"copies": COPIES}, f"{SENTENCES}copies`"),
        ({"mentions": "gene"}, f"{SENTENCES}mentions`"),
        ({"negative": ...}, "micro_f1 of kind sequence needs `negative`: the label that it ignores, or"),
        (POSITIVE | {"negative": ...}, "positive_f1 needs `neg"),
        (POSITIVE, "the one of the two labels that is not posi"),
        (POSITIVE | {"metric": "accuracy", "negative": "no"},
         "have a `negative` label, not accuracy of sequence"),
        ({"access": "public", "apply": PAGE}, APPLY),
        ({"access": "local", "apply": PAGE}, APPLY),
        ({"access": "registration"}, APPLY),
        ({"expect": 3}, "expect\n.*valid dict"),
    ],
)  # fmt: skip
def test_keys_that_contradict_each_other_are_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        dataset(**changes)


def test_null_counts_and_glosses_are_left_out() -> None:
    made = dataset(
        expect={"train": {"examples": 3, "tokens": None}, "dev": {}},
        glosses={"annotated": "genes", "labels": {"a": "one", "b": None}, "source": "guidelines"},
    )
    assert made.expect == {"train": {"examples": 3}, "dev": {}}
    assert made.glosses and made.glosses.labels == {"a": "one"}
