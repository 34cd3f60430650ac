"""Numbers with their nouns."""

from pubmill.messages.counted_nouns import counted


def test_only_one_is_singular() -> None:
    assert [counted(number, "dataset") for number in (0, 1, 2, 1000)] == [
        "0 datasets", "1 dataset", "2 datasets", "1,000 datasets"
    ]  # fmt: skip
    assert [counted(number, "hash", "hashes") for number in (1, 2)] == ["1 hash", "2 hashes"]
