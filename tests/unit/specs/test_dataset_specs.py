"""Specs of datasets: one check for each file, own converters, and keys that need or exclude each other."""

from typing import Any

import pytest
from pydantic import ValidationError

from pubmill.specs import DatasetSpec
from pubmill.specs.dataset_specs import File

URL = "https://example.org/train.tsv"
SHA, BLOB = "a" * 64, "b" * 40


def dataset(**changes: Any) -> DatasetSpec:
    """A dataset of labelled texts; a change to `...` leaves the key out."""
    values: dict[str, Any] = {
        "name": "mine", "kind": "sequence", "task": "relation", "domain": "biomedical", "sources": {},
        "access": "public", "licence": "CC0", "converter": "pubmill.convert.tsv:read", "expect": {},
        "metric": "micro_f1", "negative": None, "version": 1,
    }  # fmt: skip
    given = {key: value for key, value in (values | changes).items() if value is not ...}
    return DatasetSpec.model_validate(given)


@pytest.mark.parametrize("check", [{"sha256": SHA}, {"git_blob": BLOB}, {"unchecked": "made anew each day"}])
def test_a_file_is_checked_in_any_one_way(check: dict[str, str]) -> None:
    assert File.model_validate({"url": URL, **check}).model_dump(exclude_none=True) == {"url": URL, **check}


@pytest.mark.parametrize("checks", [{}, {"sha256": SHA, "git_blob": BLOB}, {"sha256": SHA, "unchecked": "x"}])
def test_a_file_that_is_checked_in_no_way_or_in_two_is_refused(checks: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="give exactly one of sha256, git_blob and unchecked"):
        File.model_validate({"url": URL, **checks})


OWN = {"local": "mine", "file": "reader.py"}


def test_a_converter_of_ones_own_is_a_function_of_the_file_that_is_its_source() -> None:
    made = dataset(converter="reader:read", sources={"converter": OWN})
    assert made.converter == "reader:read" and made.sources["converter"].model_dump()["file"] == "reader.py"


@pytest.mark.parametrize(
    "sources",
    [{}, {"train": OWN}, {"converter": OWN | {"file": "other.py"}},
     {"converter": {"url": "https://example.org/reader.py", "sha256": SHA}}],
)  # fmt: skip
def test_a_converter_of_ones_own_without_that_file_is_refused(sources: dict[str, Any]) -> None:
    needed = "needs the source `converter: {local: KEY, file: reader.py}`; one of pubmill is named"
    with pytest.raises(ValidationError, match=needed):
        dataset(converter="reader:read", sources=sources)


TOKENS = {"kind": "tokens", "task": "ner", "metric": "entity_f1", "negative": ...}


@pytest.mark.parametrize(("key", "value"), [("copies", [{"url": URL, "sha256": SHA}]), ("mentions", "gene")])
def test_only_datasets_of_labelled_words_have_copies_and_types_of_mentions(key: str, value: Any) -> None:
    assert getattr(dataset(**TOKENS, **{key: value}), key) and not getattr(dataset(), key)
    with pytest.raises(ValidationError, match=f"only datasets of labelled words .kind tokens. have `{key}`"):
        dataset(**{key: value})


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"negative": ...}, "micro_f1 of kind sequence needs `negative`: the label that it ignores, or"),
        ({"metric": "positive_f1", "task": "classification", "negative": ...}, "positive_f1 needs `neg"),
        ({"metric": "positive_f1", "task": "classification"}, "the one of the two labels that is not posi"),
        ({"metric": "accuracy", "task": "classification", "negative": "no"},
         "have a `negative` label, not accuracy of sequence"),
    ],
)  # fmt: skip
def test_the_metric_decides_whether_a_label_is_negative(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        dataset(**changes)


def test_a_negative_label_may_be_null_for_micro_f1_and_is_a_text_for_positive_f1() -> None:
    assert dataset().negative is None and dataset(negative="none").negative == "none"
    assert dataset(metric="positive_f1", task="classification", negative="no").negative == "no"


PAGE = "https://example.org/apply"


@pytest.mark.parametrize(
    "changes",
    [{"access": "public", "apply": PAGE}, {"access": "local", "apply": PAGE}, {"access": "registration"}],
)
def test_where_to_apply_stands_just_with_files_that_are_not_public(changes: dict[str, str]) -> None:
    assert dataset(access="credentialed", apply=PAGE).apply == PAGE
    assert dataset(access="local").apply is None
    with pytest.raises(
        ValidationError, match="`apply` .* is required if access is registration or credentialed"
    ):
        dataset(**changes)


def test_null_counts_and_glosses_are_left_out_and_other_forms_are_refused() -> None:
    made = dataset(
        expect={"train": {"examples": 3, "tokens": None}, "dev": {}},
        glosses={"annotated": "genes", "labels": {"a": "one", "b": None}, "source": "guidelines"},
    )
    assert made.expect == {"train": {"examples": 3}, "dev": {}}
    assert made.glosses and made.glosses.labels == {"a": "one"}
    with pytest.raises(ValidationError, match="expect\n.*valid dict"):
        dataset(expect=3)
