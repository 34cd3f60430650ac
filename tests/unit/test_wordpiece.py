"""Vocabularies: merges against a plain implementation, words against tokenizers, AutoTokenizer."""

import filecmp
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from pubmill.errors import PubmillError
from pubmill.files import read_json
from pubmill.vocabs import wordpiece
from pubmill.vocabs.merges import learn_pieces
from pubmill.vocabs.wordpiece import SPECIAL, WordCounter, WordPieceRecipe, train

TEXTS = [
    "Interleukin-2 (IL-2) activates T cells. Café au lait spots were seen.",
    "IL-2 activation of the T-cell receptor; activated cells activate cells.",
    "Effects of β-blockers on 12.5% of patients: the effect was effective.",
] * 3


def recipe(size: int = 120, lowercase: bool = True) -> WordPieceRecipe:
    return WordPieceRecipe(kind="wordpiece", size=size, lowercase=lowercase)


def write_part(path: Path, texts: list[str]) -> Path:
    pq.write_table(pa.table({"title": ["t"] * len(texts), "text": texts}), path)
    return path


def plain_pieces(counts: dict[str, int], size: int) -> list[str]:
    """Byte-pair merging as in a textbook: count all pairs, join the best, start again."""
    pieces = sorted({character for word in counts for character in word})
    pieces += sorted({"##" + character for word in counts for character in word[1:]})
    split = {word: [word[0], *("##" + character for character in word[1:])] for word in counts}
    while len(pieces) < size:
        pairs: Counter[tuple[int, int]] = Counter()
        for word, parts in split.items():
            for left, right in pairwise(parts):
                pairs[pieces.index(left), pieces.index(right)] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        left, right = pieces[best[0]], pieces[best[1]]
        joined = left + right.removeprefix("##")
        if joined not in pieces:
            pieces.append(joined)
        for word, parts in split.items():
            new: list[str] = []
            place = 0
            while place < len(parts):
                both = parts[place : place + 2] == [left, right]
                new.append(joined if both else parts[place])
                place += 2 if both else 1
            split[word] = new
    return pieces


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=8), st.integers(1, 20), min_size=1, max_size=25),
    st.integers(6, 100),
)
def test_merges_are_those_of_the_plain_algorithm(counts: dict[str, int], size: int) -> None:
    assert learn_pieces(counts, size, []).pieces == plain_pieces(counts, size)


def test_merges_do_not_depend_on_the_order_of_words() -> None:
    counts = {"aab": 3, "abb": 3, "bab": 3, "aaaa": 2}
    assert learn_pieces(counts, 20, SPECIAL) == learn_pieces(dict(reversed(counts.items())), 20, SPECIAL)


def test_rare_characters_and_their_words_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pubmill.vocabs.merges.LARGEST_ALPHABET", 2)
    pieces = learn_pieces({"ab": 5, "ba": 5, "ac": 1}, 20, ()).pieces
    assert not any("c" in piece for piece in pieces)


def test_too_small_a_vocabulary_is_refused() -> None:
    with pytest.raises(PubmillError, match="too small"):
        learn_pieces({"abcdef": 1}, 8, SPECIAL)


@settings(max_examples=300)
@given(st.text(), st.booleans())
def test_words_are_those_of_berts_pre_tokenizer(text: str, lowercase: bool) -> None:
    counter = WordCounter(recipe(lowercase=lowercase))
    counter.add(text)
    counter.finish()
    normal = BertNormalizer(lowercase=lowercase).normalize_str(text)
    assert counter.words == Counter(word for word, _ in BertPreTokenizer().pre_tokenize_str(normal))


def test_chunks_are_taken_apart_before_memory_fills(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = WordCounter(recipe())
    bounded = WordCounter(recipe())
    for text in TEXTS:
        whole.add(text)
    monkeypatch.setattr(wordpiece, "COUNTED_CHUNKS", 3)
    for text in TEXTS:
        bounded.add(text)
    whole.finish()
    bounded.finish()
    assert whole.words == bounded.words


def test_the_folder_is_the_same_each_time(tmp_path: Path) -> None:
    part = write_part(tmp_path / "part-0000.parquet", TEXTS)
    train(recipe(), [part], tmp_path / "a")
    train(recipe(), [part], tmp_path / "b")
    names = ["diagnosis.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == names
    assert filecmp.cmpfiles(tmp_path / "a", tmp_path / "b", names, shallow=False)[0] == names


@pytest.mark.parametrize("lowercase", [True, False])
def test_auto_tokenizer_keeps_the_case_rule(tmp_path: Path, lowercase: bool) -> None:
    from transformers import AutoTokenizer

    part = write_part(tmp_path / "part-0000.parquet", TEXTS)
    train(recipe(140, lowercase), [part], tmp_path / "vocab")
    assert read_json(tmp_path / "vocab/tokenizer_config.json")["do_lower_case"] is lowercase
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "vocab")
    assert (tokenizer.tokenize("Café") == tokenizer.tokenize("cafe")) is lowercase
    assert tokenizer.convert_tokens_to_ids(list(SPECIAL)) == [0, 1, 2, 3, 4]
    lines = (tmp_path / "vocab/vocab.txt").read_text().splitlines()
    assert tokenizer.convert_ids_to_tokens(list(range(len(lines)))) == lines
    ids = tokenizer("cells")["input_ids"]
    assert (ids[0], ids[-1]) == (2, 3)


def test_diagnosis_counts_the_corpus(tmp_path: Path) -> None:
    part = write_part(tmp_path / "part-0000.parquet", ["aa ab aa", "aa ☃"])
    diagnosis = train(recipe(12), [part], tmp_path / "vocab")
    assert diagnosis["documents"] == 2 and diagnosis["words"] == 5 and diagnosis["distinct_words"] == 3
    assert diagnosis["unknown_words"] == 0
    # 5 special tokens, a b ☃ ##a ##b, then aa and ab
    assert (tmp_path / "vocab/vocab.txt").read_text().split()[5:] == ["a", "b", "☃", "##a", "##b", "aa", "ab"]
    assert diagnosis["subwords_per_word"] == 1 and diagnosis["continuations"] == 0


def test_failures_leave_nothing(tmp_path: Path) -> None:
    empty = write_part(tmp_path / "empty.parquet", [""])
    with pytest.raises(PubmillError, match="no words"):
        train(recipe(), [empty], tmp_path / "vocab")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(PubmillError, match=r"broken\.parquet"):
        train(recipe(), [tmp_path / "broken.parquet"], tmp_path / "vocab")
    assert not (tmp_path / "vocab").exists()
