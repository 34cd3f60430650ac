"""Documents that are not trained on: their ids alone say which."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.pretraining.packed_tokens import HELD_OUT, PackedTokens
from pubmill.pretraining.packing import is_held_out, pack
from pubmill.recipes.pretraining import PackingRecipe
from tests.unit.pretraining.test_packing import punkt
from tests.unit.toy_shards import document
from tests.unit.toy_vocabs import RECIPES, TEXTS, make_vocab

__all__ = ["punkt"]
NAMES = [str(30_000_000 + number) for number in range(200)]


@pytest.fixture(scope="module")
def vocabs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    learnt = TEXTS + texts(NAMES)
    return {
        kind: make_vocab(tmp_path_factory.mktemp(kind), RECIPES[kind], learnt)
        for kind in ("uncased", "byte-level")
    }


def texts(names: list[str]) -> list[str]:
    """Every document names itself."""
    return [f"{TEXTS[0]} The cells are {name}." for name in names]


def write_part(path: Path, names: list[str]) -> Path:
    pq.write_table(pa.table({"id": names, "title": names, "text": texts(names)}), path)
    return path


def found(folder: Path, vocab: Path) -> list[str]:
    """The names of the documents of a packed folder, in order."""
    packed, tokenizer = PackedTokens(folder), load_tokenizer(vocab)
    last = (document(packed, number)[-1] for number in range(packed.n_documents))
    return [tokenizer.decode(ids).replace(" ", "").rstrip(".")[-8:] for ids in last]


def test_the_share_is_about_right_and_a_larger_one_has_the_smaller_ones() -> None:
    names = [str(number) for number in range(20_000)]
    small, large = ({name for name in names if is_held_out(name, share)} for share in (0.01, 0.2))
    assert abs(len(small) / 20_000 - 0.01) < 0.003 and abs(len(large) / 20_000 - 0.2) < 0.012
    assert small < large
    assert not any(is_held_out(name, 0.0) for name in names)
    assert all(is_held_out(name, 1.0) for name in names)


def test_which_they_are_never_changes() -> None:
    """Other ones would be judged on what earlier models were trained on."""
    assert [n for n in range(1000) if is_held_out(str(n), 0.005)] == [607, 634, 669, 906, 958]


def test_trained_and_held_out_documents_are_disjoint_and_complete(
    tmp_path: Path, vocabs: dict[str, Path], punkt: Path
) -> None:
    parts = [write_part(tmp_path / f"{n}.parquet", NAMES[n::3]) for n in range(3)]
    recipe, output = PackingRecipe(held_out=0.1), tmp_path / "tokens"
    index = pack(recipe, parts, vocabs["uncased"], punkt, output)
    trained, held_out = (found(folder, vocabs["uncased"]) for folder in (output, output / HELD_OUT))
    in_order = [name for n in range(3) for name in NAMES[n::3]]
    assert held_out == [name for name in in_order if is_held_out(name, 0.1)]
    assert trained == [name for name in in_order if not is_held_out(name, 0.1)]
    assert (index["documents"], index[HELD_OUT]["documents"]) == (len(trained), len(held_out))
    assert 8 <= len(held_out) <= 35


def test_they_are_the_same_for_every_vocabulary_corpus_and_title(
    tmp_path: Path, vocabs: dict[str, Path], punkt: Path
) -> None:
    chosen = set()
    for number, (kind, vocab) in enumerate(vocabs.items()):
        names = NAMES if number == 0 else [*NAMES[::-1], "40000000"]
        part = write_part(tmp_path / f"{kind}.parquet", names)
        recipe = PackingRecipe(held_out=0.1, title=number == 1)
        pack(recipe, [part], vocab, punkt, tmp_path / kind)
        chosen.add(frozenset(found(tmp_path / kind / HELD_OUT, vocab)) - {"40000000"})
    assert len(chosen) == 1 and chosen != {frozenset()}


@pytest.mark.parametrize("share, left", [(0.0, HELD_OUT), (1.0, ".")])
def test_one_of_the_two_may_be_empty(
    tmp_path: Path, vocabs: dict[str, Path], punkt: Path, share: float, left: str
) -> None:
    part = write_part(tmp_path / "part.parquet", NAMES[:5])
    pack(PackingRecipe(held_out=share), [part], vocabs["uncased"], punkt, tmp_path / "tokens")
    assert PackedTokens(tmp_path / "tokens" / left).n_documents == 0
