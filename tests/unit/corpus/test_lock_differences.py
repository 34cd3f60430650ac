"""Two days of a corpus, by their locks."""

import json
from pathlib import Path

import pytest

from pubmill.cli.diff_command import diff
from pubmill.corpus.lock_differences import lock_differences
from pubmill.corpus.locks import SourceFile, write_lock
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from tests.unit.corpus.test_locks import build, citation


def lock(folder: Path, name: str, files: list[list[Document]], day: str) -> Path:
    build(folder / name, 26, files)
    sources = [SourceFile("pubmed", f"f{n}.xml.gz", "0" * 32, f"{n}" * 64) for n in range(len(files))]
    statistics = {"day": day, "documents": 7, "words": 20 * len(files), "years": {}}
    write_lock(folder / f"{name}.lock", folder / name / "manifest.parquet", sources, statistics)
    return folder / f"{name}.lock"


def test_documents_words_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = lock(tmp_path, "first", [[citation(1), citation(2), citation(3)]], "2025-01-01")
    revised = [citation(2, "2026-02-02"), Document(id="pmid:3", deleted=True), citation(4), citation(5)]
    second = lock(
        tmp_path, "second", [[citation(1), citation(2), citation(3)], revised], "2026-02-02"
    )  # fmt: skip
    found = lock_differences(first, second)
    assert found.documents == {"new": (2, ("pmid:4", "pmid:5")), "revised": (1, ("pmid:2",)),
                               "gone": (1, ("pmid:3",))}  # fmt: skip
    assert found.totals == {
        "day": ("2025-01-01", "2026-02-02"), "documents": (7, 7), "words": (20, 40),
    }  # fmt: skip
    assert (found.first_only, found.second_only) == ((), ("f1.xml.gz",))
    diff(str(first), str(second))
    assert capsys.readouterr().out.splitlines() == [
        "day: 2025-01-01 -> 2026-02-02", "documents: 7 -> 7", "words: 20 -> 40",
        "2 new: pmid:4, pmid:5", "1 revised: pmid:2", "1 gone: pmid:3",
        "1 files of the second alone: f1.xml.gz",
        "models made from the first: none found", "tables made from the first: none found",
        "models made from the second: none found", "tables made from the second: none found",
    ]  # fmt: skip
    diff(str(second), str(second), as_json=True)
    assert json.loads(capsys.readouterr().out)["documents"] == {}
    with pytest.raises(PubmillError, match="does not exist"):
        diff(str(first), str(tmp_path / "none.lock"))
