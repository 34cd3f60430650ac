"""Packing again after parts of a corpus changed: only these are encoded, and the bytes are as of all."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.pretraining.packed_tokens import FILES, HELD_OUT, PackedTokens
from pubmill.pretraining.packing import pack
from pubmill.recipes.pretraining import PackingRecipe
from tests.unit.pretraining.test_packing import punkt, same, vocab, write_part

__all__ = ["punkt", "vocab"]

HALF = PackingRecipe(held_out=0.5)
TEXTS = ["The rats were well. None died.", "", "Aei aei.", "The rat (12 mg) were the rats!", "Mice."]


def corpus(folder: Path, parts: list[list[str]]) -> list[Path]:
    """Write the parts of a corpus in place of the earlier ones."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return [write_part(folder / f"part-{number:04d}", texts) for number, texts in enumerate(parts)]


contents = st.lists(st.lists(st.sampled_from(TEXTS), max_size=4), min_size=1, max_size=4)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(contents, min_size=2, max_size=3))
def test_after_any_changes_the_bytes_are_those_of_packing_all(
    tmp_path: Path, vocab: Path, punkt: Path, days: list[list[list[str]]]
) -> None:
    kept, new = tmp_path / "kept", tmp_path / "new"
    for parts in days:
        files = corpus(tmp_path / "corpus", parts)
        shutil.rmtree(new, ignore_errors=True)
        found, expected = pack(HALF, files, vocab, punkt, kept), pack(HALF, files, vocab, punkt, new)
        assert found | {"encoded": len(files)} == expected
        assert same(kept, new)


def test_only_changed_parts_are_encoded(tmp_path: Path, vocab: Path, punkt: Path) -> None:
    output, parts = tmp_path / "tokens", [TEXTS, TEXTS[:2], TEXTS[2:]]
    assert pack(HALF, corpus(tmp_path / "corpus", parts), vocab, punkt, output)["encoded"] == 3
    parts[1] = TEXTS[3:]
    files = corpus(tmp_path / "corpus", [*parts, TEXTS[1:]])
    assert pack(HALF, files, vocab, punkt, output)["encoded"] == 2


@pytest.mark.parametrize("other", ["recipe", "version", "vocab", "punkt", "ids.bin", "parts.json", "no list"])
def test_what_was_packed_otherwise_or_is_damaged_is_not_used(
    tmp_path: Path, vocab: Path, punkt: Path, other: str
) -> None:
    files, output, new = corpus(tmp_path / "corpus", [TEXTS, TEXTS[1:]]), tmp_path / "kept", tmp_path / "new"
    pack(HALF, files, vocab, punkt, output, version="1")
    recipe = PackingRecipe(title=True, held_out=0.5) if other == "recipe" else HALF
    version = "2" if other == "version" else "1"
    if other == "vocab":
        vocab = shutil.copytree(vocab, tmp_path / "vocab")
        (vocab / "tokenizer.json").write_text((vocab / "tokenizer.json").read_text() + "\n")
    if other == "punkt":
        punkt = Path(shutil.copy(punkt, tmp_path / "punkt.zip"))
        punkt.write_bytes(punkt.read_bytes() + b"\0")
    if other in ("ids.bin", "parts.json"):
        (output / other).write_bytes((output / other).read_bytes()[:-2] + b"\0\0")
    if other == "no list":  # as of earlier versions
        (output / "parts.json").unlink()
    assert pack(recipe, files, vocab, punkt, output, version=version)["encoded"] == 2
    pack(recipe, files, vocab, punkt, new, version=version)
    assert same(output, new)


def test_tokens_and_held_out_tokens_that_were_exchanged_are_named(
    tmp_path: Path, vocab: Path, punkt: Path
) -> None:
    output = tmp_path / "tokens"
    pack(PackingRecipe(held_out=0.3), corpus(tmp_path / "corpus", [TEXTS, TEXTS]), vocab, punkt, output)
    PackedTokens(output).check_parts()
    for name in (*FILES, "index.json"):
        (output / name).rename(tmp_path / name)
        (output / HELD_OUT / name).rename(output / name)
        (tmp_path / name).rename(output / HELD_OUT / name)
    with pytest.raises(PubmillError, match=r"tokens: \d+ tokens, but .*parts\.json counts \d+; pack again"):
        PackedTokens(output).check_parts()
