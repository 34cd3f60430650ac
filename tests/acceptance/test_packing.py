"""With Punkt's published tables, sentences of real abstracts equal those of NLTK's loader and splitter."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from pubmill.examples.sentences import SentenceSplitter

ARCHIVE = "mirror/raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"


def test_sentences_of_real_abstracts_are_nltks(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk
    from nltk.tokenize.punkt import PunktTokenizer

    (tmp_path / "tokenizers").mkdir()
    with zipfile.ZipFile(shared / ARCHIVE) as archive:
        for name in archive.namelist():
            if name.startswith("punkt_tab/english/") and not name.endswith("/"):
                archive.extract(name, tmp_path / "tokenizers")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    theirs, ours = PunktTokenizer("english"), SentenceSplitter(shared / ARCHIVE)
    with gzip.open(shared / "standins/abstracts/ab3p_med1250.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["abstract"] or "" for line in lines]
    assert len(texts) > 1000
    for text in texts:
        expected = [sentence for line in text.split("\n") for sentence in theirs.tokenize(line)]
        assert ours.split(text) == expected
