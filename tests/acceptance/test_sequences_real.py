"""GAD, EU-ADR, BIOSSES, HoC and PubMedQA from their real files: counts, orders and published bytes."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.dataset import convert
from pubmill.convert.exports import publish
from pubmill.examples.kinds import KINDS
from pubmill.storage.files import read_json, sha256
from tests.acceptance.conftest import Converted, examples_of, mostly_weekly
from tests.dataset_specs import conversion_of, inputs_of, published_of, spec_of

FOLDS = [f"{name}@fold-{fold}" for name in ("gad", "eu-adr") for fold in range(1, 11)]
TABLE_3 = {
    "gad@blurb": (4261, 535, 534),  # dev and test are exchanged in print; see the spec's `conflicts`
    "biosses": (64, 16, 20),
    "hoc@blurb": (1295, 186, 371),
    "pubmedqa": (450, 50, 500),
}
SPLITS = ("train", "dev", "test")
Texts = list[tuple[str, str]]


def counts_of(folder: Path, measure: str) -> tuple[int, ...]:
    counts = read_json(folder / "card.json")["counts"]
    return tuple(counts[split][measure] for split in SPLITS)


def examples(converted: Converted, name: str, split: str) -> Sequence[Any]:
    return examples_of(converted(name), split, KINDS[spec_of(name).kind])


def texts(converted: Converted, name: str, split: str) -> Texts:
    return [(example.text, example.label) for example in examples(converted, name, split)]


@pytest.mark.parametrize(
    ("name", "known"),
    [("gad@blurb", ["test"]), ("biosses", ["train", "dev", "test"]), ("hoc@blurb", ["dev"])],
)
def test_published_bytes_are_met(name: str, known: list[str], converted: Converted, tmp_path: Path) -> None:
    reported = publish(published_of(name), converted(name), tmp_path)
    assert [split for split, one in reported.items() if one["equal"]] == known


@pytest.mark.parametrize("name", mostly_weekly(FOLDS, "gad@fold-1", "eu-adr@fold-1"))
def test_a_fold_is_written_as_its_source_is(
    name: str, converted: Converted, shared: Path, tmp_path: Path
) -> None:
    reported = publish(published_of(name), converted(name), tmp_path)
    sources = inputs_of(name, shared / "mirror")
    assert {split: one["sha256"] for split, one in reported.items()} == {
        split: sha256(path) for split, path in sources.items()
    }


@pytest.mark.weekly
def test_the_tests_of_the_folds_make_the_corpus(converted: Converted) -> None:
    rows: dict[str, Texts] = {"gad": [], "eu-adr": []}
    for name in FOLDS:
        rows[name.partition("@")[0]] += texts(converted, name, "test")
    assert (len(rows["gad"]), len(set(rows["gad"]))) == (5330, 5122)
    assert Counter(label for _, label in rows["gad"]) == {"1": 2801, "0": 2529}
    assert (len(rows["eu-adr"]), len(set(rows["eu-adr"]))) == (355, 355)
    assert Counter(label for _, label in rows["eu-adr"]) == {"1": 262, "0": 93}


def test_blurb_cuts_the_first_fold_of_gad(converted: Converted) -> None:
    blurb = {split: texts(converted, "gad@blurb", split) for split in SPLITS}
    assert blurb["train"] + blurb["dev"] == texts(converted, "gad@fold-1", "train")
    assert blurb["test"] == texts(converted, "gad@fold-1", "test")
    for example in examples(converted, "gad@blurb", "dev"):
        assert [example.text[e.start : e.end] for e in example.entities] == ["@GENE$", "@DISEASE$"]


def test_blues_split_of_hoc_is_not_blurbs_without_the_unlabelled(
    shared: Path, converted: Converted, tmp_path: Path
) -> None:
    """The dataset has other lists, which the user supplies; lists of the same sizes replace them here."""
    of_split = [[e.id for e in examples(converted, "hoc@blurb", split) if e.labels] for split in SPLITS]
    assert list(map(len, of_split)) == [1098, 164, 318]
    labelled = [pmid for pmids in of_split for pmid in pmids]
    expect = spec_of("hoc@blue").expect
    assert len(labelled) == sum(counts["examples"] for counts in expect.values()) == 1580
    inputs = inputs_of("hoc@blue", shared / "mirror")
    for split, counts in expect.items():
        own, labelled = labelled[: counts["examples"]], labelled[counts["examples"] :]
        inputs[split] = tmp_path / f"{split}_docid.txt"
        inputs[split].write_text("\n".join(own) + "\n")
    card = convert(conversion_of("hoc@blue"), inputs, tmp_path / "hoc@blue")
    assert [card["counts"][split]["examples"] for split in SPLITS] == [1108, 157, 315]


def test_the_questions_of_pubmedqa_are_drawn_as_by_its_authors(shared: Path, converted: Converted) -> None:
    ids = {split: [e.id for e in examples(converted, "pubmedqa", split)] for split in SPLITS}
    assert ids["dev"][:5] == ["15879722", "12607666", "17593459", "11882828", "23588461"]
    truth = json.loads(inputs_of("pubmedqa", shared / "mirror")["ground_truth"].read_text())
    assert [(e.id, e.label) for e in examples(converted, "pubmedqa", "test")] == list(truth.items())
    assert len({pmid for pmids in ids.values() for pmid in pmids}) == 1000
