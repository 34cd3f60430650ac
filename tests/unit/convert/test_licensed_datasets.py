"""The clinical datasets of the miniature world, sound and damaged: messages never contain their text."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.convert.dataset import convert, load_function
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, read_examples
from pubmill.messages.quotations import withholding
from tests.clinical import given, pack, unpack, world, write_world
from tests.dataset_specs import conversion_of, inputs_of, spec_of
from tests.world.dice import Dice
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


def small(name: str, mirror: Path, folder: Path) -> dict[str, Path]:
    """The dataset's sources with three documents of each folder."""
    inputs = {}
    for role, path in inputs_of(name, mirror).items():
        if path.suffix == ".gz":
            files = unpack(path)
            kept: dict[str, bytes] = {}
            for parent in {member.rpartition("/")[0] for member in files}:
                of = sorted(member for member in files if member.rpartition("/")[0] == parent)
                kept |= {member: files[member] for member in of[:3]}
            inputs[role] = pack(folder / path.name, dict(sorted(kept.items())))
        else:
            inputs[role] = folder / path.name
            inputs[role].write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5]))
    return inputs


def swap_words(dice: Dice, text: bytes) -> bytes:
    words = text.split(b" ")
    i, j = dice.below(len(words)), dice.below(len(words))
    words[i], words[j] = words[j], words[i]
    return b" ".join(words)


def other_digit(dice: Dice, text: bytes) -> bytes:
    places = [place for place, byte in enumerate(text) if chr(byte).isdigit()] or [0]
    place = dice.pick(places)
    return text[:place] + str(dice.below(10)).encode() + text[place + 1 :]


def without_piece(dice: Dice, text: bytes) -> bytes:
    start = dice.below(len(text) + 1)
    return text[:start] + text[start + dice.between(1, 60) :]


def doubled_line(dice: Dice, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True) or [b""]
    place = dice.below(len(lines))
    return b"".join([*lines[: place + 1], dice.pick(lines), *lines[place + 1 :]])


def other_byte(dice: Dice, text: bytes) -> bytes:
    place = dice.below(len(text) + 1)
    return text[:place] + dice.pick([b'"', b"<", b"&", b"\xff", b"\0", b"|", b"}", b"\\"]) + text[place:]


def renamed(dice: Dice, text: bytes) -> bytes:
    names = [b't="', b'c="', b"TYPE=", b"type=", b"TAGS", b"gold_label", b"sentence1"]
    there = [name for name in names if name in text]
    return text.replace(dice.pick(there), CANARY.encode()) if there else text


DAMAGES: list[Callable[[Dice, bytes], bytes]] = [
    swap_words,
    other_digit,
    without_piece,
    doubled_line,
    other_byte,
    renamed,
]


def damaged(dice: Dice, path: Path, damage: Callable[[Dice, bytes], bytes]) -> None:
    """Change the file, or one of an archive's members."""
    if path.suffix != ".gz":
        path.write_bytes(damage(dice, path.read_bytes()))
        return
    files = unpack(path)
    for member in dice.sample(sorted(files), len(files)):
        changed = damage(dice, files[member])
        if changed != files[member]:
            pack(path, {**files, member: changed})
            return


def message(name: str, source: ConverterInput) -> str:
    """Return the error message for the source, "" if none; other errors than `PubmillError` are raised."""
    read = load_function(spec_of(name).converter, "converter")
    try:
        with withholding(True):
            list(read(source))
    except PubmillError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", DATASETS)
def test_damage_is_reported_without_any_text(
    name: str, damage: Callable[[Dice, bytes], bytes], mirror: Path, tmp_path: Path
) -> None:
    """Messages on many damaged copies name a position and contain no text of a note."""
    dice = Dice(DATASETS.index(name) * 100 + DAMAGES.index(damage))
    whole = small(name, mirror, tmp_path)
    assert all(
        not message(name, given(split, whole, **spec_of(name).options)) for split in ("train", "dev", "test")
    )
    content = {role: path.read_bytes() for role, path in whole.items()}
    messages: list[str] = []
    while len(messages) < 18 or (not any(messages) and len(messages) < 90):
        role = dice.pick(sorted(whole))
        damaged(dice, whole[role], damage)
        for split in ("train", "dev", "test"):
            messages.append(message(name, given(split, whole, **spec_of(name).options)))
        whole[role].write_bytes(content[role])
    assert any(messages)
    assert all(CANARY.lower() not in text.lower() for text in messages)
    assert all(str(tmp_path) in text for text in messages if text)
