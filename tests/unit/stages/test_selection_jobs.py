"""Corpora that fit together, what a part's selection is, and which files a selection needs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes.corpora import DuplicatesRecipe, ParsingRecipe
from pubmill.specs.study import check_study
from pubmill.stages import Graph, as_arguments, checked_graph
from pubmill.stages.corpus_jobs import FindDuplicates, Fingerprint, Parse, SelectDocuments

SPEC = """\
name: mixed
sources:
  - {name: notes, kind: mimic, local: mimic-iii, access: credentialed, apply: 'https://example.org'}
  - {name: web, kind: text, local: web, files: '*.txt*', documents: line, language: eng}
selection: {min_words: 5, languages: [eng]}
selections:
  notes: {types: [Physician], min_words: null}
"""


def targets(specs: Path, **config: object) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"], "datasets": ["bc2gm"]}
    return checked_graph(*check_study({**base, "models": ["no-pretraining"], **config}, specs))


def write(specs: Path, text: str = SPEC, name: str = "mixed") -> Path:
    (specs / f"corpora/{name}.yaml").write_text(text)
    return specs


@pytest.fixture
def local(tmp_path: Path) -> dict[str, str]:
    for file in ("mimic/NOTEEVENTS.csv.gz", "web/b.txt", "web/a.txt.gz"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    return {"mimic-iii": str(tmp_path / "mimic"), "web": str(tmp_path / "web")}


def test_parts_have_the_selection_of_their_source(specs: Path, local: dict[str, str]) -> None:
    made = targets(write(specs), local_files=local)
    assert [shard[:2] for shard in made.corpora.shards("mixed")] == [
        ("notes", "NOTEEVENTS"), ("web", "a"), ("web", "b"),
    ]  # fmt: skip
    blocks = [
        SimpleNamespace(corpus="mixed", source=one.source, block=one.name)
        for one in made.corpora.blocks("mixed")
    ]
    recipes = [made.stage(SelectDocuments).recipe_of(block) for block in blocks]
    assert [(recipe.types, recipe.min_words) for recipe in recipes] == [(("Physician",), None), (None, 5)]
    assert [made.stage(Parse).recipe_of(block) for block in blocks] == [
        ParsingRecipe(source="notes", kind="mimic", brackets="keep"),
        ParsingRecipe(source="web", kind="text", documents="line", language="eng"),
    ]
    assert made.corpora.fetched("web", "a+1")[0] == "results/demo/sources/local/web/a.txt.gz"


def test_one_source_is_found_without_the_files_of_another(specs: Path, local: dict[str, str]) -> None:
    del local["mimic-iii"]
    made = targets(write(specs), local_files=local)
    assert made.corpora.fetched("web", "a+1")[1].endswith("web/b.txt")
    needs = r"corpus mixed \(MIMIC-III, .* at https://example.org\) needs files of your own"
    with pytest.raises(PubmillError, match=needs):
        made.corpora.shards("mixed")


def test_two_files_of_one_name_are_reported(specs: Path, local: dict[str, str]) -> None:
    (Path(local["web"]) / "a.txt").touch()
    made = targets(write(specs), local_files=local)
    with pytest.raises(PubmillError, match="several files in .* are called a, but for their endings"):
        made.corpora.shards("mixed")


def test_what_needs_the_whole_corpus(specs: Path, local: dict[str, str]) -> None:
    more = (
        "duplicates: {similarity: 0.9}\ncontamination: {datasets: [squad-v1, bc2gm], splits: [test, dev]}\n"
    )
    made = targets(write(specs, SPEC + more), local_files=local)
    folder = "results/demo/corpora/mixed"
    inputs = made.selection.inputs("mixed")
    assert inputs == {"exclude": f"{folder}/excluded.parquet", "duplicates": f"{folder}/duplicates.parquet"}
    assert as_arguments(inputs)[:2] == ["--exclude", f"{folder}/excluded.parquet"]
    assert made.contamination.splits("mixed", "excluded") == {"squad-v1": ["dev"], "bc2gm": ["test", "dev"]}
    assert made.contamination.splits("mixed", "contamination") == {"bc2gm": ["dev", "test"]}
    block = SimpleNamespace(corpus="mixed", source="web", block="a+1")
    assert made.stage(Fingerprint).recipe_of(block).similar is True
    assert made.stage(FindDuplicates).recipe_of(block) == DuplicatesRecipe(similarity=0.9)
    plain = targets(write(specs), local_files=local)
    assert plain.selection.inputs("mixed") == {}


def test_each_corpus_that_a_model_is_trained_on_has_a_report(root: Path) -> None:
    report = "results/demo/corpora/pubmed-abstracts/contamination.json"
    assert report in targets(root / "specs", models=["pubmedbert-base"]).scope.everything()
    assert report not in targets(root / "specs").scope.everything()
