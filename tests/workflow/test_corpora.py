"""A corpus of the user's own files through Snakemake: notes, plain text, duplicates, texts of a dataset."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from tests.workflow.conftest import Project
from tests.world.part import CANARY

FOLDER = "results/demo/corpora/mixed"
SPEC = """\
name: mixed
sources:
  - name: web
    kind: text
    local: web
    files: "*.txt"
    documents: line
  - {name: notes, kind: mimic, local: mimic-iii, access: credentialed, apply: "https://example.org/apply"}
selection: {min_words: 4}
selections:
  notes: {types: [Physician]}
duplicates: {similarity: 0.8}
"""


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    """A project with that corpus, its texts, and the converted test split of hoc@blurb."""
    (project.folder / "specs/corpora/mixed.yaml").write_text(SPEC)
    project.run("--", "results/demo/datasets/hoc@blurb/card.json")
    (tmp_path / "web").mkdir()
    with gzip.open(project.folder / "results/demo/datasets/hoc@blurb/test.jsonl.gz", "rt") as rows:
        longest = max((str(json.loads(row)["text"]) for row in rows), key=len)
    lines = ["Wholly harmless words in a row.", "wholly harmless, words in a row", "Short.", longest]
    (tmp_path / "web/page.txt").write_text("\n".join(lines))
    (tmp_path / "mimic").mkdir()
    notes = [("1", "Physician ", "", f"{CANARY} had\na fever, said\n\nhe."), ("2", "Nursing", "", "x"),
             ("3", "Physician ", "1", "an error it was")]  # fmt: skip
    with gzip.open(tmp_path / "mimic/NOTEEVENTS.csv.gz", "wt", newline="") as file:
        csv.writer(file).writerows([("ROW_ID", "CATEGORY", "ISERROR", "TEXT"), *notes])
    return project


def run(project: Project, tmp_path: Path, *targets: str, check: bool = True) -> str:
    local = json.dumps({"web": str(tmp_path / "web"), "mimic-iii": str(tmp_path / "mimic")})
    done = project.run(
        "--config", f"local_files={local}", "datasets=[hoc@blurb]", "models=[no-pretraining]", "--", *targets,
        check=check,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.long
def test_every_text_is_a_document_or_has_a_reason(corpus: Project, tmp_path: Path) -> None:
    said = run(corpus, tmp_path, f"{FOLDER}/stats.json", f"{FOLDER}/contamination.json")
    folder = corpus.folder / FOLDER
    stats = json.loads((folder / "stats.json").read_text())
    assert stats["rejected"] == {"same_text": 1, "too_short": 1, "type": 1, "error_note": 1}
    assert (stats["parsed"], stats["documents"]) == (7, 3)
    assert {name: one["documents"] for name, one in stats["by_source"].items()} == {"web": 2, "notes": 1}
    reported = json.loads((folder / "contamination.json").read_text())
    assert reported["datasets"]["hoc@blurb"]["test"]["found_by_text"] >= 1
    assert reported["datasets"]["hoc@blurb"]["test"]["documents"] == ["web:page:4"]
    shown = [said, *(path.read_text() for path in (corpus.folder / "results").rglob("*.log"))]
    shown += [path.read_text() for path in (corpus.folder / "results").rglob("*.json")]
    assert len(shown) > 10 and not any(CANARY in text for text in shown)
    licensed = [folder / "part-0001.parquet", folder.parent / "parsed/notes/NOTEEVENTS.parquet"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in licensed)

    first = folder.parent / "parsed/web/page.parquet"
    before = first.stat()
    (tmp_path / "web/second.txt").write_text("One more text, which has a file of its own.\n")
    spec = corpus.folder / "specs/corpora/mixed.yaml"
    spec.write_text(SPEC + "contamination: {datasets: [hoc@blurb]}\n")
    run(corpus, tmp_path, f"{FOLDER}/stats.json", f"{FOLDER}/contamination.json")
    assert first.stat() == before and first.with_name("second.parquet").exists()
    stats = json.loads((folder / "stats.json").read_text())
    assert stats["rejected"]["contamination"] == 1 and stats["samples"]["contamination"] == ["web:page:4"]
    reported = json.loads((folder / "contamination.json").read_text())
    assert reported["documents_with_a_text"] == 0 and reported["documents"] == stats["documents"] == 3


def test_a_damaged_file_of_notes_is_reported_without_their_text(corpus: Project, tmp_path: Path) -> None:
    path = tmp_path / "mimic/NOTEEVENTS.csv.gz"
    path.write_bytes(path.read_bytes()[:-12])
    said = run(corpus, tmp_path, f"{FOLDER}/stats.json", check=False)
    log = (corpus.folder / "results/demo/logs/parse/notes/NOTEEVENTS.log").read_text()
    assert "truncated or damaged gzip" in log and CANARY not in log + said
    assert not (corpus.folder / "results/demo/corpora/parsed/notes/NOTEEVENTS.parquet").exists()
