"""Contribution of a family of datasets to the world."""

from dataclasses import dataclass

CANARY = "Qzcanary"
"""A word in the text of every licensed file, which must not occur in any log, card or message."""

Expect = dict[str, dict[str, dict[str, int]]]
"""Dataset -> split -> measure -> count, as in the specs' `expect`; counted while writing, independently of
pubmill."""


@dataclass(frozen=True)
class Part:
    """Files by path below the mirror (`HOST/PATH`, or `local/KEY/FILE` for licensed ones)."""

    files: dict[str, bytes]
    expect: Expect

    def joined(self, other: "Part") -> "Part":
        both = (self.files.keys() & other.files.keys()) | (self.expect.keys() & other.expect.keys())
        assert not both, f"two parts bring {sorted(both)}"
        return Part({**self.files, **other.files}, {**self.expect, **other.expect})
