"""Vocabularies on datasets: subwords per word and entity word, unknown words; nothing of the text."""

import json
import subprocess
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import AutoTokenizer

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.recipes.vocabs import FitRecipe
from pubmill.vocabs import diagnosis
from pubmill.vocabs.merges import learn_pieces
from pubmill.vocabs.wordpiece import SPECIAL, make_tokenizer, save
from tests.unit.toy_vocabs import RECIPES, make_vocab

SENTENCE = kinds.TokensExample(
    id="1", document=None, words=["ab", "abab", "ba", "☃"], labels=["B-X", "I-X", "O", "B-X"]
)


@pytest.fixture
def vocab(tmp_path: Path) -> Path:
    """Pieces: a, b, ##a, ##b and ab."""
    folder = tmp_path / "vocab"
    folder.mkdir()
    save(make_tokenizer(learn_pieces({"ab": 9, "ba": 1, "aa": 1}, 10, SPECIAL).pieces, True), True, folder)
    return folder


def test_subwords_are_counted(vocab: Path) -> None:
    found = diagnosis.diagnose_examples(load_tokenizer(vocab), [SENTENCE])
    # ab | ab ##a ##b | b ##a | [UNK]
    assert found["words"] == {
        "words": 4, "pieces": 7, "subwords_per_word": 7 / 4, "split_words": 2 / 4, "unknown_words": 1 / 4,
        "continuations": 3 / 7,
    }  # fmt: skip
    assert found["entity_words"]["words"] == 3
    assert found["entity_words"]["subwords_per_word"] == 5 / 3
    found = diagnosis.diagnose_examples(load_tokenizer(vocab), [])
    assert found["entity_words"]["words"] == 0 and found["entity_words"]["subwords_per_word"] is None


def test_words_of_every_kind() -> None:
    pair = kinds.RegressionExample(id="1", document=None, text="a b", text_pair="c", score=1.0)
    assert list(diagnosis.words_of(pair)) == ["a", "b", "c"] and list(diagnosis.entity_words(pair)) == []
    entity = kinds.Entity(start=2, end=7, type="X")
    relation = kinds.SequenceExample(id="1", document=None, text="a bc de f", label="x", entities=[entity])
    assert list(diagnosis.words_of(relation)) == ["a", "bc", "de", "f"] and list(
        diagnosis.entity_words(relation)
    ) == ["bc", "de"]
    answers = [kinds.Answer(text="b", start=2)]
    question = kinds.SpanExample(id="1", document=None, question="a ?", context="a b", answers=answers)
    assert list(diagnosis.words_of(question)) == ["a", "?", "a", "b"]
    assert list(
        diagnosis.words_of(kinds.MultilabelExample(id="1", document=None, text="a b", labels=[]))
    ) == ["a", "b"]


@pytest.mark.parametrize("name", ["uncased", "byte-level", "albert"])
def test_words_are_split_as_inside_a_text(tmp_path: Path, name: str) -> None:
    folder = make_vocab(tmp_path, RECIPES[name])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    words = ["patients", "activates", "β-blockers"]
    example = kinds.TokensExample(id="1", document=None, words=words, labels=["O"] * 3)
    found = diagnosis.diagnose_examples(load_tokenizer(folder), [example])
    inside = len(tokenizer.tokenize("the " + " ".join(words))) - len(tokenizer.tokenize("the"))
    assert found["words"]["pieces"] == inside
    assert list(diagnosis.split_terms(load_tokenizer(folder))) == list(diagnosis.TERMS)


def write_dataset(folder: Path, examples: list[kinds.Example]) -> Path:
    folder.mkdir(exist_ok=True)
    for split in ("train", "dev", "test"):
        kinds.write_examples(folder / f"{split}.jsonl.gz", examples)
    return folder


def test_the_program_writes_figures_and_no_text(tmp_path: Path, vocab: Path, python: str) -> None:
    secret = kinds.TokensExample(id="secret-id", document="secret-note", words=["secretword"], labels=["B-X"])
    write_dataset(tmp_path / "d", [secret])
    output, recipe = tmp_path / "on" / "x.json", {"vocab": "v", "datasets": {"d": "tokens"}}
    command = [python, "-m", "pubmill.job", "vocab_diagnosis", "--recipe", json.dumps(recipe)]
    command += ["--vocab", str(vocab), "--datasets", str(tmp_path), "--output", str(output)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    written = json.loads(output.read_text())
    assert written["vocab"] == "v" and written["datasets"]["d"].keys() == {"train", "dev", "test"}
    assert "secret" not in output.read_text() + done.stdout + done.stderr


def test_broken_folders_are_named(tmp_path: Path, vocab: Path) -> None:
    recipe = FitRecipe(vocab="v", datasets={"d": "tokens"})
    dataset = write_dataset(tmp_path / "d", [SENTENCE])
    with pytest.raises(PubmillError, match=r"tokenizer\.json does not exist"):
        diagnosis.diagnose_datasets(recipe, tmp_path / "absent", tmp_path)
    (dataset / "dev.jsonl.gz").write_bytes(b"no")
    with pytest.raises(PubmillError, match=r"dev\.jsonl\.gz"):
        diagnosis.diagnose_datasets(recipe, vocab, tmp_path)
    (vocab / "tokenizer.json").write_text("{}")
    with pytest.raises(PubmillError, match="no readable tokenizer"):
        diagnosis.diagnose_datasets(recipe, vocab, tmp_path)


def test_the_fit_to_a_corpus_counts_every_occurrence(vocab: Path) -> None:
    words = {"ab": 2, "abab": 1, "☃": 1, "ababa": 1, "babab": 3}
    found = diagnosis.diagnose(Tokenizer.from_file(str(vocab / "tokenizer.json")), words, "wordpiece")
    # ab | ab ##a ##b | [UNK] | ab ##a ##b ##a | b ##a ##b ##a ##b; a alone is unused
    assert found == {
        "size": 10, "word_occurrences": 8, "distinct_words": 5, "subwords_per_word": 25 / 8,
        "unknown_words": 1 / 8, "split_words": 5 / 8, "continuations": 17 / 25, "unused": 1,
        "most_split": ["babab", "ababa"],
    }  # fmt: skip
    for names, expected in ((["a", "<unk>"], 1), (["[UNK]", "a"], 0), (["a"], None), (["<unk>", "[UNK]"], 1)):
        tokenizer = Tokenizer(WordLevel({name: number for number, name in enumerate(names)}))
        assert diagnosis.unknown_id(tokenizer) == expected


@pytest.mark.parametrize("gathered", [20, 23, 10_000])
def test_frequent_split_words_are_listed(vocab: Path, monkeypatch: pytest.MonkeyPatch, gathered: int) -> None:
    """Of equal ones those first in the alphabet, however many are held in memory."""
    monkeypatch.setattr(diagnosis, "GATHERED", gathered)
    words = {"b" * length: 1 + length % 7 for length in range(4, 40)}
    found = diagnosis.diagnose(Tokenizer.from_file(str(vocab / "tokenizer.json")), words, "wordpiece")
    assert found["most_split"] == sorted(words, key=lambda word: (-words[word], word))[:20]
