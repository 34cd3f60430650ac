"""The clinical datasets of the miniature world, sound and damaged: messages never contain their text."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.convert.dataset import convert
from pubmill.examples.kinds import KINDS, read_examples
from tests.clinical import unpack, world, write_world
from tests.dataset_specs import conversion_of, inputs_of, spec_of
from tests.world.part import CANARY

DATASETS = sorted(world().expect)


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"))


def test_the_datasets_are_the_five_and_a_variant() -> None:
    assert DATASETS == ["i2b2-2010", "i2b2-2010-re", "i2b2-2012", "i2b2-2012@all", "i2b2-2014", "mednli"]
    assert {spec_of(name).access for name in DATASETS} == {"credentialed"}


@pytest.mark.parametrize("name", DATASETS)
def test_what_the_world_wrote_is_found(name: str, mirror: Path, tmp_path: Path) -> None:
    recipe = conversion_of(name)
    expect = world().expect[name]
    assert all(expect[split].keys() >= measures.keys() for split, measures in recipe.expect.items())
    card = convert(replace(recipe, expect=expect), inputs_of(name, mirror), tmp_path / "out")
    assert CANARY not in str(card)
    examples = list(read_examples(tmp_path / "out/train.jsonl.gz", KINDS[recipe.kind]))
    assert any(CANARY in str(example) for example in examples)


def test_no_patient_or_note_is_in_two_splits(mirror: Path, tmp_path: Path) -> None:
    recipe = replace(conversion_of("i2b2-2014"), expect={})
    convert(recipe, inputs_of("i2b2-2014", mirror), tmp_path / "out")
    patients = [
        {(e.document or "")[:3] for e in read_examples(tmp_path / f"out/{split}.jsonl.gz", KINDS["tokens"])}
        for split in ("train", "dev")
    ]
    assert not patients[0] & patients[1]


@pytest.mark.parametrize("name", DATASETS)
def test_every_document_has_the_canary(name: str, mirror: Path) -> None:
    for path in inputs_of(name, mirror).values():
        files = unpack(path) if path.suffix == ".gz" else dict(enumerate(path.read_bytes().splitlines()))
        texts = [text for member, text in files.items() if not str(member).endswith((".con", ".rel", ".ast"))]
        assert all(CANARY.encode() in text for text in texts)
        assert any(CANARY.encode().lower() in text.lower() for text in files.values())
