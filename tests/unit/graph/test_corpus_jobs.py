"""Shards of corpora, and the user's own text."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.graph import Graph, checked_graph
from pubmill.recipes.writing import as_json
from pubmill.specs.study import check_study


def targets(root: Path, **config: object) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    return checked_graph(
        *check_study({**base, "models": ["pubmedbert-base", "no-pretraining"], **config}, root / "specs")
    )


def test_a_local_folder_that_was_not_given_is_asked_for(root: Path) -> None:
    with pytest.raises(PubmillError, match=r"set local_files: \{abstracts: "):
        targets(root, scale="small")


def test_a_local_folder_without_files_is_told(root: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="no file in .* matches"):
        targets(root, scale="small", local_files={"abstracts": str(tmp_path)})


def test_text_of_the_users_own_is_recorded_as_a_source(root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").touch()
    made = targets(root, scale="small", local_files={"abstracts": str(tmp_path)})
    shard = made.corpora.shards("pubmed-abstracts")[-1]
    assert shard == ("abstracts", "a", "results/small/sources/local/abstracts/a.jsonl.gz")
    assert made.corpora.raw("abstracts", "a") == shard.file
    assert made.sources.local_file("abstracts", "a.jsonl.gz") == str(tmp_path / "a.jsonl.gz")
    assert "sources/local/abstracts/a.jsonl.gz.source.json" in made.report.source_records()


@pytest.mark.parametrize("name", ["x;touch P.jsonl.gz", "{x}.jsonl.gz", "-x.jsonl.gz", "a\nb.jsonl.gz"])
def test_a_file_of_the_users_own_with_an_odd_name_is_refused(root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(PubmillError) as caught:
        targets(root, scale="small", local_files={"abstracts": str(tmp_path)}).corpora.shards(
            "pubmed-abstracts"
        )
    told = str(caught.value)
    assert f"a file is called {name!r}; expected letters" in told and "Rename it" in told


def test_a_whole_baseline_fits_on_a_command_line(root: Path) -> None:
    """One argument of a Linux program has at most 131,072 bytes, and `bash -c` takes the command as one."""
    made = targets(root, scale="full", models=["no-pretraining"])
    assert len(made.corpora.shards("pubmed-abstracts")) == 1514
    assert len(as_json(made.corpora.latest_recipe("pubmed-abstracts"))) < 65536
    assert len(as_json(made.report.recipe())) < 131072
