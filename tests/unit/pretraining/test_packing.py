"""Packed tokens: ids against the tokenizer, sentences against NLTK, kills, changed parts, held-out texts,
bounds of ids and offsets."""

import filecmp
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nltk.tokenize.punkt import PunktSentenceTokenizer
from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.examples.sentences import FOLDER, SentenceSplitter, read_punkt
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.pretraining.packed_tokens import FILES, HELD_OUT, SPECIAL, PackedTokens, TokenShard
from pubmill.pretraining.packing import is_held_out, pack, pack_documents
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.storage.files import read_json, sealed, write_json
from pubmill.vocabs.merges import learn_pieces
from pubmill.vocabs.wordpiece import SPECIAL as TOKENS
from pubmill.vocabs.wordpiece import make_tokenizer, save
from tests.unit.toy_shards import document, make_shard, write_packed
from tests.workflow.conftest import wait_until_gone

SPECIAL_IDS = {name: number for number, name in enumerate(SPECIAL)}
TABLES = {
    "abbrev_types.txt": "dr\ni.v\n", "collocations.tab": "##number##\tmg\n",
    "ortho_context.tab": "the\t46\nwere\t32\n", "sent_starters.txt": "the\n",
}  # fmt: skip
TEXTS = [
    "BACKGROUND: Dr. Smith gave 5 mg i.v. daily. The rats were well.\nRESULTS: None died!", "No stop here",
    "", "   \n ", "Café. [SEP] and [PAD] are diseases (PAD). The rats were given more.",
]  # fmt: skip


@pytest.fixture(scope="module")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocab")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,:;()[]!-"
    counts = {letters + letters: 1} | {"the": 9, "rats": 5, "were": 5, "rat": 3, "aei": 2}
    save(make_tokenizer(learn_pieces(counts, 130, TOKENS).pieces, True), True, folder)
    return folder


def write_punkt(path: Path, tables: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in tables.items():
            archive.writestr(f"{FOLDER}/{name}", text)
    return path


@pytest.fixture(scope="module")
def punkt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_punkt(tmp_path_factory.mktemp("punkt") / "punkt_tab.zip", TABLES)


ALL = PackingRecipe(held_out=0.0)


def write_part(path: Path, texts: list[str]) -> Path:
    count = range(len(texts))
    columns = {"id": [f"{path.stem}/{n}" for n in count], "title": [f"Title {n}" for n in count]}
    pq.write_table(pa.table(columns | {"text": texts}), path)
    return path


def same(left: Path, right: Path) -> bool:
    """Whether two folders have the same files, to the byte, also in the folder of what is held out."""
    names = sorted(str(path.relative_to(left)) for path in left.rglob("*") if path.is_file())
    assert {"documents.npy", "ids.bin", "index.json", "sentences.npy"} <= set(names)
    assert names == sorted(str(path.relative_to(right)) for path in right.rglob("*") if path.is_file())
    return filecmp.cmpfiles(left, right, names, shallow=False)[0] == names


documents = st.lists(st.lists(st.lists(st.integers(5, 99), max_size=4), max_size=4), max_size=6)


@settings(max_examples=50)
@given(st.lists(documents, max_size=3), st.sampled_from([100, 2**16, 2**16 + 1]))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, shards: list[list[list[list[int]]]], vocab_size: int
) -> None:
    folder = tmp_path_factory.mktemp("packed") / "tokens"
    dtype = np.dtype(np.uint16 if vocab_size <= 2**16 else np.uint32)
    encoder: Any = SimpleNamespace(dtype=dtype, encode=lambda ids: np.array(ids, dtype).tobytes())
    texts: Any = shards
    index = write_packed(
        folder, (pack_documents(shard, list, encoder) for shard in texts), vocab_size, SPECIAL_IDS
    )
    packed, every = PackedTokens(folder), [document for shard in shards for document in shard]
    packed.verify()
    expected = [[sentence for sentence in document if sentence] for document in every if any(document)]
    assert [document(packed, number) for number in range(packed.n_documents)] == expected
    assert packed.ids.dtype == dtype
    assert packed.special == SPECIAL_IDS and packed.vocab_size == vocab_size
    assert index["empty_documents"] == len(every) - len(expected)
    assert index["empty_sentences"] == sum(not sentence for document in every for sentence in document)


Splitter = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def splitters(punkt: Path) -> list[Splitter]:
    return [SentenceSplitter(punkt).split, PunktSentenceTokenizer(read_punkt(punkt)).tokenize]


WORDS = [*'Dr i.v The the rats J 5 mg U.S al ... et-al β ( ) " ? ! -- ’'.split(), "\xa0", "\x1c"]


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([*WORDS, ". ", ".", " ", "  ", ".) ", "\t"]) | st.text(max_size=3), max_size=25)
)
@example([" ", "The", ". ", "the"])
@example(["The", ".", "  ", "rats", ". ", " "])
def test_sentences_are_nltks(splitters: list[Splitter], words: list[str]) -> None:
    ours, theirs = (split("".join(words).replace("\n", " ")) for split in splitters)
    assert ours == theirs


@pytest.mark.parametrize(
    "make",
    [
        lambda path: None,
        lambda path: path.write_bytes(b"<html>"),
        lambda path: write_punkt(path, {"collocations.tab": ""}),
        lambda path: write_punkt(path, TABLES | {"ortho_context.tab": "the\tmany\n"}),
    ],
    ids=["absent", "no archive", "tables missing", "table malformed"],
)
def test_a_wrong_punkt_archive_is_named(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "punkt_tab.zip")
    with pytest.raises(PubmillError, match=r"punkt_tab\.zip"):
        SentenceSplitter(tmp_path / "punkt_tab.zip")


def test_packing_decodes_to_the_text(tmp_path: Path, vocab: Path, punkt: Path) -> None:
    index = pack(ALL, [write_part(tmp_path / "p", TEXTS)], vocab, punkt, tmp_path / "tokens")
    assert (index["documents"], index["empty_documents"]) == (3, 2)
    packed, tokenizer = PackedTokens(tmp_path / "tokens"), Tokenizer.from_file(str(vocab / "tokenizer.json"))
    first = [tokenizer.decode(ids) for ids in document(packed, 0)]
    assert first[1] == "the rats were well." and len(first) == 3
    assert not np.isin(packed.ids, [SPECIAL_IDS[name] for name in ("pad", "cls", "sep", "mask")]).any()


def test_titles_come_first_where_asked_for(tmp_path: Path, vocab: Path, punkt: Path) -> None:
    part = write_part(tmp_path / "p", TEXTS[:2])
    pack(replace(ALL, title=True), [part], vocab, punkt, tmp_path / "with")
    pack(ALL, [part], vocab, punkt, tmp_path / "without")
    with_titles, without = PackedTokens(tmp_path / "with"), PackedTokens(tmp_path / "without")
    assert with_titles.n_documents == without.n_documents == 2
    assert document(with_titles, 1)[1:] == document(without, 1)


def test_bytes_do_not_depend_on_the_processes(tmp_path: Path, vocab: Path, punkt: Path) -> None:
    parts = [write_part(tmp_path / f"part-{n}.parquet", TEXTS[n:] * (5 - n)) for n in range(5)]
    for processes in (1, 2):
        pack(PackingRecipe(held_out=0.4), parts, vocab, punkt, tmp_path / str(processes), processes)
    assert same(tmp_path / "1", tmp_path / "2")


def test_a_broken_part_is_named_and_nothing_left(tmp_path: Path, vocab: Path, punkt: Path) -> None:
    good = write_part(tmp_path / "good.parquet", TEXTS)
    (tmp_path / "bad.parquet").write_bytes(good.read_bytes()[:-20])
    with pytest.raises(PubmillError, match=r"bad\.parquet"):
        parts = [good, tmp_path / "bad.parquet"]
        pack(PackingRecipe(), parts, vocab, punkt, tmp_path / "out" / "tokens", processes=2)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.long
def test_killed_and_run_again_gives_the_same_bytes(tmp_path: Path, vocab: Path, punkt: Path) -> None:
    parts = [write_part(tmp_path / f"part-{number:04d}.parquet", TEXTS * 100) for number in range(4)]
    output = tmp_path / "out" / "tokens"
    words = f"--recipe {{}} --processes 2 --corpus {tmp_path} --parts 4 --vocab {vocab} --punkt {punkt}"
    command = [sys.executable, "-m", "pubmill.job", "pack", *words.split(), "--output", str(output)]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        while process.poll() is None and not list(tmp_path.glob("out/.tokens*/ids.bin")):
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL and not output.exists()
    wait_until_gone(process.pid)  # the worker processes end by themselves when their parent was killed
    for again in (output, tmp_path / "undisturbed"):
        pack(PackingRecipe(), parts, vocab, punkt, again)
    assert same(output, tmp_path / "undisturbed")


HALF = PackingRecipe(held_out=0.5)
CHANGING = ["The rats were well. None died.", "", "Aei aei.", "The rat (12 mg) were the rats!", "Mice."]


def corpus(folder: Path, parts: list[list[str]]) -> list[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return [write_part(folder / f"part-{number:04d}", texts) for number, texts in enumerate(parts)]


contents = st.lists(st.lists(st.sampled_from(CHANGING), max_size=4), min_size=1, max_size=4)


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
    output, parts = tmp_path / "tokens", [CHANGING, CHANGING[:2], CHANGING[2:]]
    assert pack(HALF, corpus(tmp_path / "corpus", parts), vocab, punkt, output)["encoded"] == 3
    parts[1] = CHANGING[3:]
    files = corpus(tmp_path / "corpus", [*parts, CHANGING[1:]])
    assert pack(HALF, files, vocab, punkt, output)["encoded"] == 2


@pytest.mark.parametrize("other", ["recipe", "version", "vocab", "punkt", "ids.bin", "parts.json", "no list"])
def test_what_was_packed_otherwise_or_is_damaged_is_not_used(
    tmp_path: Path, vocab: Path, punkt: Path, other: str
) -> None:
    files, output = corpus(tmp_path / "corpus", [CHANGING, CHANGING[1:]]), tmp_path / "kept"
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
    pack(recipe, files, vocab, punkt, tmp_path / "new", version=version)
    assert same(output, tmp_path / "new")


def test_tokens_and_held_out_tokens_that_were_exchanged_are_named(
    tmp_path: Path, vocab: Path, punkt: Path
) -> None:
    output = tmp_path / "tokens"
    pack(PackingRecipe(held_out=0.3), corpus(tmp_path / "corpus", [CHANGING, CHANGING]), vocab, punkt, output)
    PackedTokens(output).check_parts()
    for name in (*FILES, "index.json"):
        (output / name).rename(tmp_path / name)
        (output / HELD_OUT / name).rename(output / name)
        (tmp_path / name).rename(output / HELD_OUT / name)
    with pytest.raises(PubmillError, match=r"tokens: \d+ tokens, but .*parts\.json counts \d+; pack again"):
        PackedTokens(output).check_parts()


NAMES = [str(30_000_000 + number) for number in range(200)]


def write_named(path: Path, names: list[str]) -> Path:
    """A part in which every document names itself."""
    pq.write_table(pa.table({"id": names, "title": names, "text": names}), path)
    return path


def named(folder: Path, vocab: Path) -> list[str]:
    packed, tokenizer = PackedTokens(folder), load_tokenizer(vocab)
    return [tokenizer.decode(document(packed, number)[0]) for number in range(packed.n_documents)]


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
    tmp_path: Path, vocab: Path, punkt: Path
) -> None:
    parts = [write_named(tmp_path / f"{n}.parquet", NAMES[n::3]) for n in range(3)]
    recipe, output = PackingRecipe(held_out=0.1), tmp_path / "tokens"
    index = pack(recipe, parts, vocab, punkt, output)
    trained, held_out = (named(folder, vocab) for folder in (output, output / HELD_OUT))
    in_order = [name for n in range(3) for name in NAMES[n::3]]
    assert held_out == [name for name in in_order if is_held_out(name, 0.1)]
    assert trained == [name for name in in_order if not is_held_out(name, 0.1)]
    assert (index["documents"], index[HELD_OUT]["documents"]) == (len(trained), len(held_out))
    assert 8 <= len(held_out) <= 35


@pytest.mark.parametrize("share, left", [(0.0, HELD_OUT), (1.0, ".")])
def test_one_of_the_two_may_be_empty(
    tmp_path: Path, vocab: Path, punkt: Path, share: float, left: str
) -> None:
    part = write_named(tmp_path / "part.parquet", NAMES[:5])
    pack(PackingRecipe(held_out=share), [part], vocab, punkt, tmp_path / "tokens")
    assert PackedTokens(tmp_path / "tokens" / left).n_documents == 0


DOCUMENTS = [[[5, 6, 7], [8]], [[9, 5]], [[6, 7, 8, 9]]]


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    write_packed(tmp_path / "tokens", [make_shard(DOCUMENTS, 10)], 10, SPECIAL_IDS)
    return tmp_path / "tokens"


def test_the_last_id_of_a_vocabulary_is_packed_and_the_next_is_not(tmp_path: Path) -> None:
    """Nor are shards whose counts do not fit."""
    ids, one = np.array([5, 6], np.uint16), np.array([1], np.int64)
    with pytest.raises(PubmillError, match="do not fit"):
        write_packed(tmp_path / "tokens", [TokenShard(ids, one, one)], 10, SPECIAL_IDS)
    assert list(tmp_path.iterdir()) == []
    write_packed(tmp_path / "a", [make_shard([[[9]]], 10)], 10, SPECIAL_IDS)
    with pytest.raises(PubmillError, match="id 10 is outside the vocabulary of 10"):
        write_packed(tmp_path / "b", [make_shard([[[10]]], 11)], 10, SPECIAL_IDS)
    with pytest.raises(PubmillError, match="the special tokens"):
        write_packed(tmp_path / "c", [], 10, {"pad": 0})


@pytest.mark.parametrize(
    ("name", "offsets"),
    [
        ("sentences.npy", [1, 3, 4, 6, 10]), ("sentences.npy", [0, 3, 4, 6, 9]),
        ("sentences.npy", [0, 3, 4, 10]), ("sentences.npy", [0, 3, 4, 6, 8, 10]),
        ("documents.npy", [0, 2, 3, 5]), ("documents.npy", [0, 2, 4]),
    ],
)  # fmt: skip
def test_offsets_that_do_not_fit_are_refused(tokens: Path, name: str, offsets: list[int]) -> None:
    np.save(tokens / name, np.array(offsets))
    with pytest.raises(PubmillError, match=rf"{name}: \d offsets up to \d+ expected; pack again"):
        PackedTokens(tokens)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("dtype", "uint32", r"ids\.bin: 20 bytes of uint16 expected, found 20"),
        ("vocab_size", 70_000, r"ids\.bin: 40 bytes of uint32 expected, found 20"),
        ("tokens", 9, r"ids\.bin: 18 bytes of uint16 expected, found 20"),
    ],
)
def test_an_index_of_other_ids_is_refused(tokens: Path, key: str, value: object, message: str) -> None:
    index = read_json(tokens / "index.json")
    write_json(tokens / "index.json", sealed(index | {key: value}))
    with pytest.raises(PubmillError, match=message):
        PackedTokens(tokens)
    write_json(tokens / "index.json", {name: index[name] for name in index if name != key})
    with pytest.raises(PubmillError, match="lacks 'tokens'|lacks 'vocab_size'|uint16 expected"):
        PackedTokens(tokens)


@pytest.mark.parametrize("name", ["ids.bin", "sentences.npy", "documents.npy"])
def test_a_cut_folder_is_refused(tokens: Path, name: str) -> None:
    os.truncate(tokens / name, (tokens / name).stat().st_size - 1)
    with pytest.raises(PubmillError, match=f"{name}.*pack again"):
        PackedTokens(tokens)
    with pytest.raises(PubmillError, match="not whole"):
        PackedTokens(tokens.parent)
