"""Names that occur more than once."""

from pubmill.messages.repeated_names import repeated


def test_names_that_occur_twice_or_more_are_listed_once_and_sorted() -> None:
    assert repeated(["b", "c", "a", "b", "a", "b"]) == ["a", "b"]
    assert repeated(iter(["b", "a"])) == []
