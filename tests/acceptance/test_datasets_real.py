"""The five NER datasets of BLURB from their real files: the counts are as published, or the job fails."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from pubmill.annotation.examples import TokensExample, read_examples
from pubmill.convert.dataset import convert
from pubmill.errors import PubmillError
from pubmill.metrics.entities import score_entities
from pubmill.recipes.datasets import ConversionRecipe
from pubmill.storage.files import sha256
from tests.dataset_specs import conversion_of, inputs_of, spec_of

TABLE_3 = {
    "bc5-chem": (5203, 5347, 5385),
    "bc5-disease": (4182, 4246, 4424),  # dev: 4244 in print; see the spec's `conflicts`
    "ncbi-disease": (5134, 787, 960),
    "bc2gm": (15197, 3061, 6325),
    "jnlpba": (46750, 4551, 8662),
}


def of_spec(name: str, shared: Path) -> tuple[ConversionRecipe, dict[str, Path]]:
    """Return the conversion recipe, and the local copies of the sources."""
    return conversion_of(name), inputs_of(name, shared / "mirror")


@pytest.mark.parametrize("name", TABLE_3)
def test_counts_are_the_published_ones(name: str, shared: Path, tmp_path: Path) -> None:
    recipe, inputs = of_spec(name, shared)
    assert {split: sha256(path) for split, path in inputs.items()} == {
        split: source.sha256 for split, source in spec_of(name).sources.items()
    }
    counts = convert(recipe, inputs, tmp_path / name)["counts"]
    assert tuple(counts[split]["mentions"] for split in ("train", "dev", "test")) == TABLE_3[name]
    assert all(counts[split]["illegal_starts"] == 0 for split in counts)
    gold = [example.labels for example in read_examples(tmp_path / name / "test.jsonl.gz", TokensExample)]
    metrics, scored, _ = score_entities(gold, gold)
    assert metrics["entity_f1"] == 1.0
    assert scored["gold"] == counts["test"]["mentions"]


def test_the_printed_count_of_bc5_disease_dev_fails_the_job(shared: Path, tmp_path: Path) -> None:
    recipe, inputs = of_spec("bc5-disease", shared)
    printed = replace(recipe, expect={"dev": {"mentions": 4244}})
    with pytest.raises(PubmillError, match=r"dev mentions: expected 4244, found 4246, difference \+2"):
        convert(printed, inputs, tmp_path / "bc5-disease")
    assert not (tmp_path / "bc5-disease").exists()


def test_the_two_extra_mentions_are_one_name_cut_by_the_sentence_splitter(
    shared: Path, tmp_path: Path
) -> None:
    recipe, inputs = of_spec("bc5-disease", shared)
    convert(recipe, inputs, tmp_path / "d")
    dev = list(read_examples(tmp_path / "d/dev.jsonl.gz", TokensExample))
    cut = [
        (one.words[-2:], two.words[0])
        for one, two in pairwise(dev)
        if one.words[-2:] == ["St", "."] and one.labels[-1] != "O" and two.labels[0] == "B"
    ]
    assert cut == [(["St", "."], "Anthony")] * 2


def test_documents_of_jnlpba_that_stand_in_train_and_test(shared: Path, tmp_path: Path) -> None:
    recipe, inputs = of_spec("jnlpba", shared)
    card = convert(recipe, inputs, tmp_path / "jnlpba")
    assert {split: card["counts"][split]["repeated_documents"] for split in inputs} == {
        "train": 1,
        "dev": 0,
        "test": 2,
    }
    shown = {(found["split"], found["with"]): found["documents"] for found in card["overlaps"]}
    assert shown == {("dev", "train"): 0, ("test", "train"): 10, ("test", "dev"): 0}
