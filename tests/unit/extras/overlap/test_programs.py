"""The programs that look up years and split a table's scores."""

from pathlib import Path

import pytest

from pubmill.corpus.shards import Document, write_shard
from pubmill.extras.overlap.overlap_of_runs import OVERLAP_RENDERERS, overlap_table
from pubmill.extras.overlap.overlap_recipes import OverlapRecipe
from pubmill.recipes.corpora import DocumentsRecipe, SourceShards
from pubmill.recipes.writing import as_json, as_values
from pubmill.report.rendering import to_json
from pubmill.storage.files import read_json, write_jsonl_gz
from pubmill.tables.cells import read_table
from tests.unit.extras.overlap.test_overlap_of_runs import put_run
from tests.unit.programs import run_program
from tests.unit.toy_tables import paths, recipe
from tests.unit.toy_tables import table as toy_table


def test_the_years_of_each_dataset_s_documents_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first source decides, and a document that no source has is left out."""
    for source, years in (("first", {"1": "1990", "9": "1980"}), ("second", {"1": "2000", "2": "2001"})):
        known = [Document(id=f"pmid:{pmid}", pmid=pmid, published=year) for pmid, year in years.items()]
        (tmp_path / source).mkdir()
        write_shard(tmp_path / source / "a.parquet", known, source=source, file="f", order=0)
    for name, pmids in (("bc5", "12"), ("ncbi", "23")):
        rows = [{"id": pmid, "document": pmid} for pmid in pmids]
        write_jsonl_gz(tmp_path / f"results/{name}.jsonl.gz", rows)
    made = DocumentsRecipe(
        sources=tuple(SourceShards(name=name, shards=("a",)) for name in ("first", "second")),
        documents={name: (f"{name}.jsonl.gz",) for name in ("bc5", "ncbi")},
    )
    folders = ["--parsed", tmp_path, "--results", tmp_path / "results", "--output", tmp_path / "years.json"]
    run_program("document_years", "--recipe", as_json(as_values(made)), *folders)
    found = read_json(tmp_path / "years.json")
    assert (found["bc5"], found["ncbi"]) == ({"1": 1990, "2": 2001}, {"2": 2001})
    assert capsys.readouterr().out.splitlines() == [
        "bc5: the year of 2 of 2 documents", "ncbi: the year of 1 of 2 documents",
    ]  # fmt: skip


def test_a_table_is_split_in_every_form(tmp_path: Path) -> None:
    put_run(tmp_path, 1)
    made = recipe(records={"bert": {"bc2gm": paths("bert", "bc2gm", 1)}})
    table = tmp_path / "table06.json"
    table.write_text(to_json(toy_table(tmp_path, made)))
    splitting = OverlapRecipe(cells={"bert": ("bc2gm",)}, corpora={}, dated=())
    words = ["--table", table, "--results", tmp_path, "--output", tmp_path / "out"]
    run_program("overlap", "--recipe", as_json(as_values(splitting)), *words)
    expected = overlap_table(splitting, read_table(table), tmp_path)
    for form, render in OVERLAP_RENDERERS.items():
        assert (tmp_path / f"out.{form}").read_text() == render(expected)
