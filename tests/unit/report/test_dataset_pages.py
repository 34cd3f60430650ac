"""Pages of datasets: every part, for every kind, and no text of the dataset."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes.reading import as_json, build
from pubmill.recipes.report import PageRecipe
from pubmill.report.dataset_pages import PAGE_RENDERERS, Page, make_page
from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.storage.result_paths import PAGE_FORMATS
from pubmill.tables.cells import read_as
from tests.pages import parsed
from tests.unit.report import toy_cards as made_up
from tests.unit.toy_studies import GraphOf

HOSTILE = "<script>alert(1)</script> | [z](http://q) & `w`"
KINDS = ("tokens", "sequence", "multilabel", "regression", "span")


def recipe(**changes: Any) -> PageRecipe:
    values: dict[str, Any] = {
        "name": "drugs@blurb",
        "label": "Drugs",
        "kind": "sequence",
        "task": "relation",
        "domain": "biomedical",
        "suites": ["blurb"],
        "metric": "micro_f1",
        "negative": "false",
        "access": "credentialed",
        "apply": "https://example.org/apply",
        "licence": "the licence of the drugs",
        "citation": "examples from Table 3",
        "conflicts": ["Table 3 prints 99."],
        "notes": ["a note"],
        "glosses": {
            "annotated": "what the chemical does",
            "labels": {"CPR:3": "upregulates"},
            "source": "guidelines of the drugs",
        },
        "scale": "full",
        "scale_title": "full scale",
        "made_up": False,
        "card": "datasets/drugs@blurb/card.json",
        "sources": [
            {
                "role": "archive",
                "place": "corpus.zip, in the folder local_files.drugs",
                "url": None,
                "check": None,
                "record": "sources/local/drugs/corpus.zip.source.json",
            }
        ],
        "published": {"train": {"name": "train.tsv", "sha256": "c" * 64}},
        "variants": ["drugs@blue"],
        "versions": {},
    }
    return build(PageRecipe, values | changes, "here")


def put_record(results: Path, sha256: str = "5" * 64) -> None:
    path = results / "sources/local/drugs/corpus.zip.source.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"url": "file:///home/somebody/secret/corpus.zip", "bytes": 5, "sha256": sha256}
    path.write_text(json.dumps({**record, "origin": "local", "retrieved": "2026-01-02T03:04:05"}))


def page(results: Path, made: PageRecipe | None = None, **card: Any) -> Page:
    made = made or recipe()
    made_up.write(results, made_up.card(made.name, made.kind, **card))
    put_record(results)
    return make_page(made, results)


def test_a_page_holds_every_part(tmp_path: Path) -> None:
    text = parsed(PAGE_RENDERERS["html"](page(tmp_path))).text_content()
    for part in (
        "Drugs (drugs@blurb)", "10 ✓", "CPR:3", "20.0 %", "95th percentile", "12.25", "contradictory texts",
        "test, train", "what the chemical does", "upregulates", "guidelines of the drugs",
        "no sentence", "3 inputs of test are also in train", "Table 3 prints 99.", "a note", "drugs@blue",
        "the licence of the drugs",
        "https://example.org/apply", "only for people who were granted access", "corpus.zip, in the folder",
        "5" * 64, "came by local, 2026-01-02", "export drugs@blurb FOLDER", "c" * 64,
    ):  # fmt: skip
        assert part.lower() in " ".join(text.split()).lower(), part


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_of_any_kind_is_the_same_again_and_read_by_the_report(tmp_path: Path, kind: str) -> None:
    made = page(tmp_path, recipe(kind=kind))
    assert PAGE_RENDERERS["html"](made) == PAGE_RENDERERS["html"](made)
    assert "Lengths" in PAGE_RENDERERS["html"](made)
    (tmp_path / "page.json").write_text(PAGE_RENDERERS["json"](made))
    assert read_as(Page, tmp_path / "page.json") == made


def test_splits_come_in_their_order_and_words_stand_for_mentions_without_a_beginning(tmp_path: Path) -> None:
    counts = {**made_up.COUNTS["tokens"], **made_up.COMMON, "mentions": 0, "mentions.Drug": 0}
    made = page(tmp_path, recipe(kind="tokens"), counts={"test": counts, "dev": counts, "train": counts})
    assert made.card.splits == ["train", "dev", "test"]
    assert made.labels_are == "labelled words by type"
    assert [(name, cells[0].value) for name, cells in made.labels] == [("Drug", 3)]


def test_a_label_that_a_split_lacks_is_none_of_it(tmp_path: Path) -> None:
    train = {**made_up.COMMON, "examples": 4, "labels.x": 1, "labels.y": 3}
    test = {**made_up.COMMON, "examples": 2, "labels.x": 2}
    made = page(tmp_path, counts={"train": train, "test": test}, expect={"train": {"labels.x": 5}})
    assert [[cell.value for cell in cells] for _, cells in made.labels] == [[1, 2], [3, 0]]
    assert [[cell.share for cell in cells] for _, cells in made.labels] == [[0.25, 1.0], [0.75, 0.0]]
    assert "expected 5" in PAGE_RENDERERS["html"](made)


def test_made_up_data_is_said_to_be(tmp_path: Path) -> None:
    made = page(tmp_path, recipe(made_up=True, scale="demo", scale_title="demo scale, made-up data"))
    assert "made-up data" in parsed(PAGE_RENDERERS["html"](made)).xpath("string(//*[@class='banner'])")


def test_a_page_holds_no_path_of_this_machine_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    made = page(tmp_path)
    assert not any("/home/somebody" in render(made) for render in PAGE_RENDERERS.values())
    found = parsed(PAGE_RENDERERS["html"](made))
    assert not found.xpath("//script | //link | //img | //@src")
    assert len(found.xpath("//@id")) == len(set(found.xpath("//@id")))


def test_names_notes_and_labels_are_escaped(tmp_path: Path) -> None:
    counts = {**made_up.COMMON, "examples": 1, f"labels.{HOSTILE}": 1}
    made = page(
        tmp_path,
        recipe(
            label=HOSTILE,
            licence=HOSTILE,
            conflicts=[HOSTILE],
            notes=[HOSTILE],
            negative=HOSTILE,
            glosses={"annotated": HOSTILE, "labels": {"x": HOSTILE}, "source": HOSTILE},
        ),
        counts={"train": counts},
    )
    assert not parsed(PAGE_RENDERERS["html"](made)).xpath("//script")


def test_a_card_of_another_dataset_or_of_other_sources_is_refused(tmp_path: Path) -> None:
    made_up.write(tmp_path, made_up.card("drugs@blue", "sequence"))
    with pytest.raises(PubmillError, match="is the card of drugs@blue, expected drugs@blurb"):
        make_page(recipe(card="datasets/drugs@blue/card.json"), tmp_path)
    with pytest.raises(PubmillError, match="was made from .other of drugs@blurb"):
        page(tmp_path, recipe(sources=[SOURCE | {"url": None, "check": None, "role": "other"}]))
    put_record(tmp_path, sha256="6" * 64)
    with pytest.raises(PubmillError, match="describes another file than .*card.json was made from"):
        make_page(recipe(), tmp_path)


def test_the_program_reads_no_examples(tmp_path: Path, root: Path) -> None:
    """Text of the dataset cannot reach a page: the examples beside the card are not even opened."""
    page(tmp_path)
    with gzip.open(tmp_path / "datasets/drugs@blurb/train.jsonl.gz", "wt") as file:
        file.write("not an example: CANARY\n")
    command = [
        sys.executable, "-m", "pubmill.job", "dataset_page", "--recipe", as_json(recipe()),
        "--results", str(tmp_path), "--output", str(tmp_path / "pages/drugs@blurb"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "pages").iterdir()} == {
        f"drugs@blurb.{form}" for form in (*PAGE_FORMATS, "sha256")
    }
    assert not any("CANARY" in path.read_text() for path in (tmp_path / "pages").iterdir())


def test_page_recipes_of_all_datasets_have_no_paths(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    made = graph_of(full_specs, mirror=str(tmp_path))
    for name, spec in full_specs.datasets.items():
        parsed = build(PageRecipe, json.loads(as_json(made.pages.recipe(name))), "here")
        assert str(tmp_path) not in as_json(parsed)
        assert all(source.record.endswith(".source.json") for source in parsed.sources)
        assert [source.role for source in parsed.sources] == list(spec.sources)
        assert parsed.published.keys() == (spec.published.files.keys() if spec.published else set())


def test_a_page_of_a_dataset_that_cannot_be_had_is_refused(full_graph: Graph) -> None:
    with pytest.raises(PubmillError, match="you apply for at"):
        full_graph.pages.inputs("mednli")
    with pytest.raises(PubmillError, match="there is no specs/datasets/nothing"):
        full_graph.pages.inputs("nothing")


SOURCE = {"role": "archive", "place": "a.zip", "record": "sources/local/drugs/corpus.zip.source.json"}


@pytest.mark.parametrize(
    ("check", "shown"),
    [
        (None, "a file of the user's own, which the specification does not pin"),
        ("sha256", "the specification pins its SHA-256"),
        ("git_blob", "the specification pins the id that git gives its content"),
        ("not checked: it changes", "not checked: it changes"),
    ],
)
def test_a_source_has_its_size_day_and_check(tmp_path: Path, check: str | None, shown: str) -> None:
    [source] = page(tmp_path, recipe(sources=[SOURCE | {"url": None, "check": check}])).sources
    assert (source.check, source.bytes, source.retrieved) == (shown, 5, "2026-01-02")


def test_counts_begin_with_those_of_the_size_and_have_no_labels_or_repetitions(tmp_path: Path) -> None:
    counts = {"fewest": 0, "examples": 10, "labels.x": 3, "repeated_texts": 2, "left_out.odd": 7}
    made = page(tmp_path, counts={"train": counts, "test": {"examples": 5}}, expect={"test": {"examples": 6}})
    assert [(name, [one.value for one in cells]) for name, cells in made.counts] == [
        ("examples", [10, 5]), ("fewest", [0, None]),
    ]  # fmt: skip
    assert [one.expected for one in made.counts[0][1]] == [None, 6]
    assert [(name, cells[0].value) for name, cells in made.repetitions] == [("repeated_texts", 2)]
    assert [(name, [one.value for one in cells]) for name, cells in made.left_out] == [("odd", [7, 0])]
    assert [[one.share for one in cells] for _, cells in made.labels] == [[1.0, None]]


def test_a_title_has_the_name_only_where_the_label_is_another(tmp_path: Path) -> None:
    assert page(tmp_path).title == "Drugs (drugs@blurb)"
    assert page(tmp_path, recipe(label="drugs@blurb")).title == "drugs@blurb"
    assert page(tmp_path, recipe(label="")).title == "drugs@blurb"
    assert page(tmp_path).warning == "" and page(tmp_path, recipe(made_up=True)).warning == "full scale"


def test_lengths_are_of_the_splits_that_have_them(tmp_path: Path) -> None:
    made = page(tmp_path, lengths={"train": {"mean": 2.5, "max": 9}, "test": {"mean": 3.5}})
    assert made.lengths == {
        "mean": {"train": 2.5, "test": 3.5}, "median": {}, "95th percentile": {}, "longest": {"train": 9},
    }  # fmt: skip
