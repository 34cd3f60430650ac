"""Counting words: against tokenizers on whole texts, by parts and at once, empty, broken."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel

from pubmill.errors import PubmillError
from pubmill.recipes import Splitting
from pubmill.vocabs.word_counts import SPLITTINGS, merge_counts, write_counts
from tests.unit.toy_vocabs import TEXTS, count_texts, write_part

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    " \n\t\r\x0b\x1c\x85\xa0\u2003ae\u0301i.,-'´Ġ▁`s1", max_size=30
)


def whole(text: str, splitting: Splitting) -> list[str]:
    if splitting == "white-space":
        return text.split()
    if splitting == "byte-level":
        splitter = ByteLevel(add_prefix_space=False, use_regex=True)
        return [word for line in text.split("\n") for word, _ in splitter.pre_tokenize_str(line)]
    normal = BertNormalizer(lowercase=splitting == "bert-uncased").normalize_str(text)
    return [word for word, _ in BertPreTokenizer().pre_tokenize_str(normal)]


@pytest.mark.parametrize("splitting", SPLITTINGS)
@settings(max_examples=20)
@given(several=st.lists(texts, max_size=4))
@example(several=["they're I'm we've he'll it'd 12's 'tis O'", "a  b", "a b ", " a", "a\t b\xa0 \xa0c"])
def test_words_are_those_of_tokenizers(splitting: Splitting, several: list[str]) -> None:
    counted = count_texts(several, splitting)
    assert counted.words == Counter(word for text in several for word in whole(text, splitting))
    assert counted.documents == len(several)
    assert counted.running == sum(len(text.split()) for text in several)


def merged(
    folder: Path, parts: list[list[str]], splitting: Splitting, most: int = 1000
) -> tuple[dict[str, int], dict[str, int]]:
    counts = []
    for number, part in enumerate(parts):
        counts.append(folder / "words" / f"part-{number:04d}.parquet")
        write_counts(write_part(folder / f"part-{number:04d}.parquet", part), splitting, counts[-1])
    return merge_counts(counts, splitting, most, folder / "vocab")


@pytest.mark.parametrize("splitting", SPLITTINGS)
def test_by_parts_and_at_once_is_the_same(tmp_path: Path, splitting: Splitting) -> None:
    parts = [TEXTS[:4], [], TEXTS[4:]]
    whole = count_texts(TEXTS, splitting)
    figures = {
        "documents": whole.documents, "words": whole.running, "minimum_count": 1, "pruned_words": 0,
        "pruned_occurrences": 0,
    }  # fmt: skip
    assert merged(tmp_path, parts, splitting) == (whole.words, figures)


@settings(max_examples=12)
@given(
    st.lists(st.lists(st.text("ab", min_size=1, max_size=3), min_size=1), min_size=1, max_size=3),
    st.integers(1, 8),
)
def test_rare_words_are_pruned(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[str]], most: int
) -> None:
    folder = tmp_path_factory.mktemp("counts")
    every = Counter(word for part in parts for word in part)
    minimum = next(n for n in range(1, 1000) if sum(count >= n for count in every.values()) <= most)
    kept = {word: count for word, count in every.items() if count >= minimum}
    if not kept:
        with pytest.raises(PubmillError, match="most_words"):
            merged(folder, [[" ".join(part)] for part in parts], "white-space", most)
        return
    words, figures = merged(folder, [[" ".join(part)] for part in parts], "white-space", most)
    assert words == kept and list(words) == sorted(kept)
    assert figures["pruned_words"] == len(every) - len(kept)
    assert figures["pruned_occurrences"] == every.total() - sum(kept.values())
    assert figures["minimum_count"] == (minimum if figures["pruned_words"] else 1)


def test_faults_are_named_and_nothing_is_left(tmp_path: Path) -> None:
    output = tmp_path / "words" / "part-0000.parquet"
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    for name in ("broken", "absent"):
        with pytest.raises(PubmillError, match=rf"{name}\.parquet"):
            write_counts(tmp_path / f"{name}.parquet", "bert-cased", output)
    assert not output.exists()
    with pytest.raises(PubmillError, match="no words"):
        merged(tmp_path / "empty", [[""], []], "byte-level")
    write_counts(write_part(tmp_path / "good.parquet", TEXTS), "bert-cased", output)
    with pytest.raises(PubmillError, match="words split by bert-cased, expected byte-level"):
        merge_counts([output], "byte-level", 10, tmp_path / "vocab")
    output.write_bytes(output.read_bytes()[:-9])
    with pytest.raises(PubmillError, match=r"part-0000\.parquet is damaged: it is no whole Parquet file"):
        merge_counts([output], "bert-cased", 10, tmp_path / "vocab")
