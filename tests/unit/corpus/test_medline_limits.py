"""Sizes that a PubMed file and its citations may have."""

import gzip
from pathlib import Path

import pytest

from pubmill.corpus import medline
from pubmill.corpus.medline import read_medline
from pubmill.errors import PubmillError
from tests.unit.corpus.test_medline import articles, citation, read, write


def test_a_citation_may_have_16_mebibytes(tmp_path: Path) -> None:
    """Thousands of authors make a few MB; a citation without an end must not fill the memory."""
    path, size = tmp_path / "pubmed26n0001.xml.gz", 7 << 20
    text = f"<AbstractText>{'x' * size}</AbstractText>"
    long = citation(1, f"<Abstract>{text}{text}</Abstract>")
    path.write_bytes(gzip.compress(f"<PubmedArticleSet>{articles(long)}</PubmedArticleSet>".encode(), 1))
    assert [len(text) for _, text in next(iter(read_medline(path))).sections] == [size, size]
    path.write_bytes(gzip.compress(b"<PubmedArticleSet><PubmedArticle>" + b"x" * (33 << 20), 1))
    with pytest.raises(PubmillError, match="no </PubmedArticle> within 16 MiB"):
        list(read_medline(path))


def test_a_large_file_may_unpack_to_a_certain_number_of_times_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, articles(*(citation(number) for number in range(1, 3000))))
    size, ratio = path.stat().st_size, len(gzip.decompress(path.read_bytes())) / path.stat().st_size
    assert size > 1000 and 10 < ratio < 100
    monkeypatch.setattr(medline, "BLOCK", 1 << 12)
    for limit, small, passes in (
        (200, 0, True),
        (int(ratio) + 1, 0, True),
        (int(ratio / 2), 0, False),
        (2, 1 << 28, True),
    ):
        monkeypatch.setattr(medline, "RATIO_LIMIT", limit)
        monkeypatch.setattr(medline, "SMALL", small)
        if passes:
            assert len(list(read_medline(path))) == 2999
        else:
            with pytest.raises(PubmillError, match=f"unpacks to more than {limit} times its size"):
                list(read_medline(path))


def test_numbers_of_the_longest_allowed_kind_are_read(tmp_path: Path) -> None:
    (found,) = read(tmp_path, articles(citation(10**18 - 1, version=f' Version="{10**9 - 1}"')))
    assert (found.id, found.version) == (f"pmid:{10**18 - 1}", 10**9 - 1)
