"""Facts as papers print them: how they are read, when ours are equal, how they are shown."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.report.rendering import fact
from pubmill.tables.printed_facts import is_equal, is_of_kind


@pytest.mark.parametrize(
    ("value", "printed", "kind", "equal"),
    [
        (500_000, "500k", "count", True),
        (62_500, "64K", "count", False),
        (63_500, "64K", "count", True),
        (1_000_000, "1 M", "count", True),
        (1_700_000, "1.7M", "count", True),
        (1_760_000, "1.7M", "count", False),
        (8192, "8192", "count", True),
        (8191, "8192", "count", False),
        (4_540_000_000, "4.5 billion", "words", True),
        (4_540_000_000, "4.5B", "words", True),
        (22_490_000, "22 million", "count", True),
        (3_320_000, "3.4 million", "count", False),
        (4_551_000_000, "4.5B", "words", False),
        (20_600_000_000, "21GB", "bytes", True),
        (0.512, "0.50x", "ratio", False),
        (0.5, "0.50x", "ratio", True),
        (4.0, "4.00x", "ratio", True),
        (2.247, "2.2474", "ratio", False),
        (181.4, "03:01", "minutes", True),
        (182.0, "03:01", "minutes", False),
        (2e-4, "2e-4", "learning_rate", True),
        (2.6e-4, "2e-4", "learning_rate", False),
        (True, "1", "boolean", True),
        ("PubMed", "pubmed", "text", True),
    ],
)
def test_numbers_are_compared_as_far_as_they_are_printed(
    value: Any, printed: str, kind: Any, equal: bool
) -> None:
    assert is_of_kind(printed, kind)
    assert is_equal(value, printed, kind) is equal


@given(st.integers(1, 10**6), st.sampled_from(["", "k", "M", " billion"]))
def test_every_number_equals_itself_as_printed(number: int, size: str) -> None:
    factor = {"": 1, "k": 10**3, "M": 10**6, " billion": 10**9}[size]
    assert is_equal(number * factor, f"{number}{size}", "count")
    assert not is_equal(number * factor + factor, f"{number}{size}", "count")


@pytest.mark.parametrize(
    ("printed", "kind"),
    [("4.5", "count"), ("3:61", "minutes"), ("1K", "ratio"), ("-1", "count"), ("", "text"), ("1", "number")],
)
def test_what_is_written_otherwise_is_not_of_its_kind(printed: str, kind: str) -> None:
    assert not is_of_kind(printed, kind)


@pytest.mark.parametrize(
    ("value", "kind", "printed", "shown"),
    [
        (0.0005, "learning_rate", "2e-4", "5e-4"),
        (2.5e-05, "learning_rate", None, "2.5e-5"),
        (181.4, "minutes", "03:01", "03:01"),
        (0.5, "ratio", "0.50x", "0.50"),
        (2.2467, "ratio", "1.654", "2.247"),
        (0.08536, "ratio", "0.08", "0.0854"),
        (11_223_182, "words", "3.1B", "11\u202f223\u202f182"),
    ],
)
def test_facts_are_shown_as_their_kind_is(value: Any, kind: str, printed: str | None, shown: str) -> None:
    assert fact(value, kind, printed) == shown
