"""Finished runs split by what their items share with training, from stored predictions."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.concept_files import ExampleConcepts, write_concepts
from pubmill.examples.kinds import Entity, SequenceExample, TokensExample, write_examples
from pubmill.extras.overlap.overlap_of_runs import (
    OVERLAP_RENDERERS,
    Overlap,
    as_text,
    overlap_table,
    overlaps_of_runs,
)
from pubmill.extras.overlap.overlap_recipes import OverlapRecipe
from pubmill.metrics.records import write_record
from pubmill.metrics.training_overlap import Counts
from pubmill.storage.files import write_json, write_jsonl_gz
from pubmill.tables.cells import parse
from pubmill.tables.overlap_tables import OverlapTable
from tests.unit.programs import run_verb
from tests.unit.toy_tables import paths, recipe, record, write_all
from tests.unit.toy_tables import table as toy_table

RUNS = "runs/blurb/bert/bc2gm/standard"
COUNTS = {"gold": 3, "predicted": 2, "correct": 1, "examples": 2}


def sentence(name: str, words: str, labels: str) -> TokensExample:
    return TokensExample(id=name, document=None, words=words.split(), labels=labels.split())


def put_run(results: Path, seed: int, dataset: str = "bc2gm", **changes: Any) -> Path:
    """One run: of three mentions, a known one is found, and one of the new ones in part."""
    folder = results / "datasets" / dataset
    write_examples(folder / "train.jsonl.gz", [sentence("1", "IL-2 acts", "B O")])
    write_examples(folder / "dev.jsonl.gz", [sentence("1", "COX 1", "B I")])
    test = [sentence("1", "IL-2 and COX 1", "B O B I"), sentence("2", "asthma", "B")]
    write_examples(folder / "test.jsonl.gz", test)
    run = results / RUNS.replace("bc2gm", dataset)
    lines = [{"id": "1", "labels": ["B", "O", "B", "O"]}, {"id": "2", "labels": ["O"]}]
    (run / "final").mkdir(parents=True, exist_ok=True)
    write_jsonl_gz(run / f"final/seed-{seed}.predictions.jsonl.gz", lines)
    values = {"counts": COUNTS, "recipe": {"task": "tokens"}} | changes
    write_record(run / f"final/seed-{seed}.json", record("bert", dataset, seed, 0.4, **values))
    (run / f"final/seed-{seed}.training.json").write_text("{}")
    return run


def test_runs_are_added_up(tmp_path: Path) -> None:
    put_run(tmp_path, 1)
    [found] = overlaps_of_runs([put_run(tmp_path, 2)], ("train",))
    assert (found.dataset, found.runs) == ("bc2gm", 2)
    mentions = found.parts["mentions"]
    assert mentions["verbatim"] == Counts(2, 2, 2) and mentions["new"] == Counts(4, 2, 0)
    assert found.parts["documents"]["document not known"] == Counts(6, 4, 2)
    text = as_text(found).splitlines()
    assert text[0] == "bc2gm, 2 runs, compared with train"
    assert text[3].split() == ["verbatim", "2", "33.3", "%", "2", "2", "100.00", "100.00", "100.00"]
    assert text[7].split() == ["together", "6", "100.0", "%", "4", "2", "50.00", "33.33", "40.00"]


def test_dev_can_be_training_too(tmp_path: Path) -> None:
    [found] = overlaps_of_runs([put_run(tmp_path, 1)], ("train", "dev"))
    assert found.parts["mentions"]["verbatim"] == Counts(2, 1, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": {**COUNTS, "gold": 4}}, r"mentions are \(3, 2, 1\), but \(4, 2, 1\) in the record"),
        ({"recipe": {"task": "regression"}}, "its examples are regression, not labelled words or relations"),
        ({"counts": None, "metrics": None, "failed": "nan"}, "the run has no score: nan; leave it out"),
    ],
)
def test_runs_that_cannot_be_split(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    run = put_run(tmp_path, 1, **changes)
    with pytest.raises(PubmillError, match=message):
        overlaps_of_runs([run], ("train",))


def test_folders_of_several_datasets_are_split_apart(tmp_path: Path) -> None:
    runs = [put_run(tmp_path, 1), put_run(tmp_path, 1, "jnlpba")]
    found = overlaps_of_runs(runs, ("train",))
    assert [(one.dataset, one.runs) for one in found] == [("bc2gm", 1), ("jnlpba", 1)]


def test_relations_are_split_by_their_arguments(tmp_path: Path) -> None:
    def example(name: str, label: str) -> SequenceExample:
        entities = [Entity(start=0, end=7, type="A"), Entity(start=8, end=11, type="B")]
        return SequenceExample(id=name, document="7", text="aspirin COX", label=label, entities=entities)

    changes: dict[str, Any] = {"counts": {"gold": 1, "predicted": 2, "correct": 1, "examples": 2}}
    run = put_run(tmp_path, 1, recipe={"task": "sequence", "negative": "no"}, **changes)
    folder = tmp_path / "datasets/bc2gm"
    write_examples(folder / "train.jsonl.gz", [example("1", "no")])
    write_examples(folder / "test.jsonl.gz", [example("1", "yes"), example("2", "no")])
    lines = [{"id": "1", "label": "yes"}, {"id": "2", "label": "yes"}]
    write_jsonl_gz(run / "final/seed-1.predictions.jsonl.gz", lines)
    [found] = overlaps_of_runs([run], ("train",))
    assert found.parts["arguments"]["pair"] == Counts(1, 2, 1)
    assert found.parts["documents"]["document in training"] == Counts(1, 2, 1)


def test_a_folder_without_records(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="has no records of final runs; expected a folder"):
        overlaps_of_runs([tmp_path], ("train",))


def put_beside(results: Path) -> None:
    """What is known of bc2gm beside its examples: identifiers and documents, years, and a corpus with one
    example."""
    identified = {
        "train": {"1": ExampleConcepts("5", {(0, 1): frozenset({"G1"})})},
        "test": {
            "1": ExampleConcepts("6", {(0, 1): frozenset({"G1"}), (2, 4): frozenset({"G1", "G9"})}),
            "2": ExampleConcepts("5", {(0, 1): frozenset({"D7"})}),
        },
    }
    write_concepts(results / "concepts/bc2gm.jsonl.gz", identified)
    held = {"datasets": {"bc2gm": {"test": {"ids": ["1"]}}}}
    write_json(results / "corpora/abstracts/contamination.json", held)
    write_json(results / "corpora/abstracts/document-years.json", {"bc2gm": {"6": 1998}})


def test_identifiers_documents_pretraining_and_years(tmp_path: Path) -> None:
    run = put_run(tmp_path, 1)
    put_beside(tmp_path)
    [found] = overlaps_of_runs([run], ("train",), ("abstracts",))
    mentions = found.parts["mentions"]
    assert mentions["new name"] == Counts(1, 0, 0) and mentions["new concept"] == Counts(1, 0, 0)
    assert mentions["no identifier"] == Counts(0, 1, 0) and mentions["verbatim"] == Counts(1, 1, 1)
    assert found.parts["documents"] == {
        "document in training": Counts(1, 0, 0),
        "other document": Counts(2, 2, 1),
        "document not known": Counts(),
    }
    assert found.parts["pretraining"]["in the corpus"] == Counts(2, 2, 1)
    assert found.parts["years"] == {"1995-1999": Counts(2, 2, 1), "year not known": Counts(1, 0, 0)}
    assert "by year: 1 of 2 documents have a year, 1 have none" in as_text(found).splitlines()


def test_documents_without_years_are_counted(tmp_path: Path) -> None:
    """Sources that have none of the documents give no split by year, but the number without one."""
    run = put_run(tmp_path, 1)
    put_beside(tmp_path)
    write_json(tmp_path / "corpora/abstracts/document-years.json", {"bc2gm": {}})
    [found] = overlaps_of_runs([run], ("train",), ("abstracts",))
    assert "years" not in found.parts and "0 of 2 documents have a year, 2 have none" in as_text(found)
    write_concepts(tmp_path / "concepts/bc2gm.jsonl.gz", {"train": {}, "test": {}})
    [found] = overlaps_of_runs([run], ("train",), ("abstracts",))
    assert "0 of 0 documents have a year, 0 have none; 2 examples name no document" in as_text(found)


def test_years_are_shown_of_columns_without_a_corpus(tmp_path: Path) -> None:
    put_run(tmp_path, 1)
    put_beside(tmp_path)
    made = toy_table(tmp_path, recipe(records={"bert": {"bc2gm": paths("bert", "bc2gm", 1)}}))
    plain = overlap_table(OverlapRecipe(cells={"bert": ("bc2gm",)}, corpora={}), made, tmp_path)
    assert "years" not in {one.by for one in plain.cells} and plain.year_notes == []
    assert "dated" not in OVERLAP_RENDERERS["json"](plain)
    assert all("Years" not in OVERLAP_RENDERERS[form](plain) for form in ("md", "html"))
    own = OverlapRecipe(cells={"bert": ("bc2gm",)}, corpora={}, dated=("abstracts",))
    found = overlap_table(own, made, tmp_path)
    assert [one.by for one in found.cells] == ["mentions", "documents", "years"]
    assert found.year_notes == ["BC2GM: 1 of 2 documents have a year, 1 have none."]
    assert all(found.year_notes[0] in OVERLAP_RENDERERS[form](found) for form in ("md", "html"))
    assert parse(OverlapTable, json.loads(OVERLAP_RENDERERS["json"](found)), "here") == found


def test_a_document_is_in_the_corpus_if_any_of_its_examples_was_found(tmp_path: Path) -> None:
    run = put_run(tmp_path, 1)
    put_beside(tmp_path)
    same = {"test": {name: ExampleConcepts("6", {}) for name in ("1", "2")}}
    write_concepts(tmp_path / "concepts/bc2gm.jsonl.gz", same)
    [found] = overlaps_of_runs([run], ("train",), ("abstracts",))
    assert found.parts["pretraining"]["not found in the corpus"] == Counts()


def test_a_corpus_that_was_not_searched_for_the_dataset(tmp_path: Path) -> None:
    run = put_run(tmp_path, 1)
    put_beside(tmp_path)
    write_json(tmp_path / "corpora/abstracts/contamination.json", {"datasets": {}})
    with pytest.raises(PubmillError, match="has nothing on test of bc2gm; its study has other datasets"):
        overlaps_of_runs([run], ("train",), ("abstracts",))
    with pytest.raises(PubmillError, match=r"corpora/pmc/contamination.json does not exist"):
        overlaps_of_runs([run], ("train",), ("pmc",))


def test_the_cells_of_a_table(tmp_path: Path) -> None:
    """The runs of a cell are added up; the page and the other forms show the same counts."""
    put_run(tmp_path, 1)
    put_run(tmp_path, 2)
    put_beside(tmp_path)
    made = toy_table(tmp_path, recipe(records={"bert": {"bc2gm": paths("bert", "bc2gm")}}))
    corpora = ("abstracts",)
    own = OverlapRecipe(cells={"bert": ("bc2gm",)}, corpora={"bert": corpora}, dated=corpora)
    found = overlap_table(own, made, tmp_path)
    assert [(one.by, one.runs) for one in found.cells] == [
        (by, 2) for by in ("mentions", "documents", "pretraining", "years")
    ]
    assert all(one.together == Counts(6, 4, 2) for one in found.cells)
    forms = {form: render(found) for form, render in OVERLAP_RENDERERS.items()}
    assert "bc2gm,bert,mentions,new name,2,2,0,0\n" in forms["csv"]
    assert "| BERT | 100.00, R 100.00 | — | — | R 0.00 | R 0.00 | — | 40.00, R 33.33 |" in forms["md"]
    assert "BC2GM, by the words of mentions" in forms["html"] and "33% of gold" in forms["html"]
    assert parse(OverlapTable, json.loads(forms["json"]), "here") == found


def test_a_table_without_such_cells(tmp_path: Path) -> None:
    write_all(tmp_path)
    found = overlap_table(OverlapRecipe(cells={}, corpora={}), toy_table(tmp_path), tmp_path)
    assert all(
        "No cell has runs on entities or relations" in OVERLAP_RENDERERS[form](found)
        for form in ("md", "html")
    )


def test_the_command_prints_each_dataset_and_takes_dev_as_training(tmp_path: Path) -> None:
    runs = [put_run(tmp_path, 1), put_run(tmp_path, 1, "jnlpba")]
    first, second = run_verb("audit", "seen", *runs).stdout.split("\n\njnlpba, ")
    assert first.splitlines()[0] == "bc2gm, 1 run, compared with train"
    assert second.splitlines()[0] == "1 run, compared with train"
    [found] = overlaps_of_runs(runs[:1], ("train", "dev"))
    assert run_verb("audit", "seen", runs[0], "--dev").stdout == as_text(found) + "\n"
    assert as_text(found).startswith("bc2gm, 1 run, compared with train and dev\n")


def text_rows(**parts: Counts) -> list[list[str]]:
    """Return the cells of each line of a dataset's parts."""
    text = as_text(Overlap("bc2gm", ("train",), 2, {"by mention": parts}))
    first, blank, heading, *lines = text.splitlines()
    assert (first, blank) == ("bc2gm, 2 runs, compared with train", "")
    assert heading.split() == "by mention gold share predicted correct precision recall F1".split()
    return [line.split() for line in lines]


def test_each_part_has_its_share_of_the_gold_items() -> None:
    assert text_rows(known=Counts(6, 4, 3), new=Counts(2, 4, 1)) == [
        ["known", "6", "75.0", "%", "4", "3", "75.00", "50.00", "60.00"],
        ["new", "2", "25.0", "%", "4", "1", "25.00", "50.00", "33.33"],
        ["together", "8", "100.0", "%", "8", "4", "50.00", "50.00", "50.00"],
    ]


def test_without_gold_items_all_shares_are_0() -> None:
    nothing = ["0.00", "0.00", "0.00"]
    assert text_rows(known=Counts(0, 3, 0)) == [
        ["known", "0", "0.0", "%", "3", "0", *nothing],
        ["together", "0", "0.0", "%", "3", "0", *nothing],
    ]


def test_a_single_run_is_one_run() -> None:
    assert as_text(Overlap("x", ("train", "dev"), 1, {})) == "x, 1 run, compared with train and dev"
