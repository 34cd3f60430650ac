"""Published files, glosses and dummies of datasets, and drops of tables: values that are refused."""

from typing import Any

import pytest

from pubmill.recipes.datasets import Glosses, PublishedFile
from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.tables import Drop

SHA = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("name", "sha256", "fault"),
    [
        ("train.tsv", None, None), ("train.tsv", SHA, None),
        ("../train.tsv", None, "name must be letters without accents, .* found '../train.tsv'"),
        ("", SHA, "name must be .* found ''"),
        ("train.tsv", SHA[1:], "sha256 must be 64 hexadecimal digits, found '123456789abcdef"),
        ("train.tsv", SHA + "0", "sha256 must be 64 hexadecimal digits"),
        ("train.tsv", SHA.upper(), "sha256 must be 64 hexadecimal digits"),
        ("train.tsv", "", "sha256 must be 64 hexadecimal digits, found ''"),
    ],
)  # fmt: skip
def test_a_published_file_has_a_plain_name_and_a_whole_hash_or_none(
    name: str, sha256: str | None, fault: str | None
) -> None:
    if fault is None:
        assert PublishedFile(name=name, sha256=sha256).sha256 == sha256
    else:
        with pytest.raises(ValueError, match=fault):
            PublishedFile(name=name, sha256=sha256)


@pytest.mark.parametrize("empty", [{"annotated": ""}, {"source": ""}, {"labels": {"a": "one", "b": ""}}])
def test_no_gloss_is_empty(empty: dict[str, Any]) -> None:
    whole: dict[str, Any] = {"annotated": "genes", "source": "guidelines", "labels": {"a": "one", "b": "two"}}
    assert Glosses(**whole).labels["b"] == "two"
    assert Glosses(annotated="genes", source="guidelines").labels == {}
    with pytest.raises(ValueError, match="glosses must not be empty"):
        Glosses(**whole | empty)


@pytest.mark.parametrize("overlap", ["@{}$", "@{}-{}-{}$", "@{}-{$", "{}-{}}", "{0}-{1}"])
def test_the_dummy_of_overlapping_mentions_is_fixed_or_has_two_places(overlap: str) -> None:
    for good in ("", "@GENE-DRUG$", "@{}-{}$", "{}{}"):
        assert Dummies(types={}, overlap=good).overlap == good
    with pytest.raises(ValueError, match="overlap must have two {} or no braces, found '"):
        Dummies(types={}, overlap=overlap)


def test_a_drop_has_columns_to_take_the_lowest_of() -> None:
    assert Drop(start="a", of=("b",)).of == ("b",)
    with pytest.raises(ValueError, match="a drop needs at least one column in `of`"):
        Drop(start="a", of=())
