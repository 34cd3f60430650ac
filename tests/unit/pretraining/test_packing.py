"""Packed tokens: ids against the tokenizer, sentences against NLTK, the folder, and being killed."""

import filecmp
import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.tokenize.punkt import PunktSentenceTokenizer
from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.examples.sentences import FOLDER, SentenceSplitter, read_punkt
from pubmill.pretraining.packed_tokens import SPECIAL, PackedTokens, TokenShard
from pubmill.pretraining.packing import pack
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.vocabs.merges import learn_pieces
from pubmill.vocabs.wordpiece import SPECIAL as TOKENS
from pubmill.vocabs.wordpiece import make_tokenizer, save
from tests.unit.toy_shards import document, make_shard, write_packed

SPECIAL_IDS = {name: number for number, name in enumerate(SPECIAL)}
TABLES = {
    "abbrev_types.txt": "dr\ni.v\n",
    "collocations.tab": "##number##\tmg\n",
    "ortho_context.tab": "the\t46\nwere\t32\n",
    "sent_starters.txt": "the\n",
}
TEXTS = [
    "BACKGROUND: Dr. Smith gave 5 mg i.v. daily. The rats were well.\nRESULTS: None died!",
    "No stop here",
    "",
    "   \n ",
    "Café. [SEP] and [PAD] are diseases (PAD). The rats were given more.",
]


@pytest.fixture(scope="module")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocab")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,:;()[]!-"
    counts = {letters + letters: 1} | {"the": 9, "rats": 5, "were": 5, "rat": 3, "aei": 2}
    save(make_tokenizer(learn_pieces(counts, 130, TOKENS).pieces, True), True, folder)
    return folder


@pytest.fixture(scope="module")
def punkt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("punkt") / "punkt_tab.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in TABLES.items():
            archive.writestr(f"{FOLDER}/{name}", text)
    return path


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
    index = write_packed(folder, (make_shard(shard, vocab_size) for shard in shards), vocab_size, SPECIAL_IDS)
    packed, every = PackedTokens(folder), [document for shard in shards for document in shard]
    packed.verify()
    expected = [[sentence for sentence in document if sentence] for document in every if any(document)]
    assert [document(packed, number) for number in range(packed.n_documents)] == expected
    assert packed.ids.dtype == (np.uint16 if vocab_size <= 2**16 else np.uint32)
    assert packed.special == SPECIAL_IDS and packed.vocab_size == vocab_size
    assert index["empty_documents"] == len(every) - len(expected)
    assert index["empty_sentences"] == sum(not sentence for document in every for sentence in document)


def test_shards_may_be_cut_anywhere(tmp_path: Path) -> None:
    documents = [[[5, 6], [7]], [[8]], [[9, 9, 9]]]
    write_packed(tmp_path / "one", [make_shard(documents, 10)], 10, SPECIAL_IDS)
    write_packed(tmp_path / "three", [make_shard([document], 10) for document in documents], 10, SPECIAL_IDS)
    assert same(tmp_path / "one", tmp_path / "three")


def test_impossible_shards_are_refused(tmp_path: Path) -> None:
    ids, one = np.array([5, 6], np.uint16), np.array([1], np.int64)
    with pytest.raises(PubmillError, match="do not fit"):
        write_packed(tmp_path / "tokens", [TokenShard(ids, one, one)], 10, SPECIAL_IDS)
    assert list(tmp_path.iterdir()) == []


WORDS = [*'Dr i.v The the rats J 5 mg U.S al ... et-al β ( ) " ? ! -- ’'.split(), "\xa0", "\x1c"]


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([*WORDS, ". ", ".", " ", "  ", ".) ", "\t"]) | st.text(max_size=3), max_size=25)
)
@example([" ", "The", ". ", "the"])
@example(["The", ".", "  ", "rats", ". ", " "])
def test_sentences_are_nltks(punkt: Path, words: list[str]) -> None:
    text = "".join(words).replace("\n", " ")
    assert SentenceSplitter(punkt).split(text) == PunktSentenceTokenizer(read_punkt(punkt)).tokenize(text)


@pytest.mark.parametrize("damage", ["absent", "no archive", "table missing", "table malformed"])
def test_a_wrong_punkt_archive_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "punkt_tab.zip"
    if damage == "no archive":
        path.write_bytes(b"<html>")
    elif damage != "absent":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{FOLDER}/collocations.tab", "")
            if damage == "table malformed":
                for name in ("abbrev_types.txt", "sent_starters.txt"):
                    archive.writestr(f"{FOLDER}/{name}", "")
                archive.writestr(f"{FOLDER}/ortho_context.tab", "the\tmany\n")
    with pytest.raises(PubmillError, match=r"punkt_tab\.zip"):
        SentenceSplitter(path)


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
    for processes in (1, 2):
        with pytest.raises(PubmillError, match=r"bad\.parquet"):
            parts = [good, tmp_path / "bad.parquet"]
            pack(PackingRecipe(), parts, vocab, punkt, tmp_path / "out" / "tokens", processes)
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
    _wait_until_gone(process.pid)
    subprocess.run(command, check=True)
    pack(PackingRecipe(), parts, vocab, punkt, tmp_path / "undisturbed")
    assert same(output, tmp_path / "undisturbed")


def _wait_until_gone(group: int) -> None:
    """The worker processes end by themselves when the one that started them has been killed."""
    for _ in range(3000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    os.killpg(group, signal.SIGKILL)
    raise AssertionError("worker processes were left behind")
