"""Pages of datasets: every part, for every kind, and no text of the dataset."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes.reading import build
from pubmill.recipes.report import PageRecipe
from pubmill.report.dataset_pages import Page, make_page
from pubmill.report.rendering import environment
from tests.pages import parsed
from tests.unit.report import toy_cards as made_up

HOSTILE = "<script>alert(1)</script> | [z](http://q) & `w`"
RECORD = "sources/local/drugs/corpus.zip.source.json"


def recipe(**changes: Any) -> PageRecipe:
    values: dict[str, Any] = {
        "name": "drugs@blurb", "label": "Drugs", "kind": "sequence", "task": "relation",
        "domain": "biomedical", "suites": ["blurb"], "metric": "micro_f1", "negative": "false",
        "access": "credentialed", "apply": "https://example.org/apply", "licence": "the licence of the drugs",
        "citation": "examples from Table 3", "conflicts": ["Table 3 prints 99."], "notes": ["a note"],
        "glosses": {"annotated": "what the chemical does", "labels": {"CPR:3": "upregulates"},
         "source": "guidelines of the drugs"},
        "scale": "full", "scale_title": "full scale", "made_up": False,
        "card": "datasets/drugs@blurb/card.json",
        "sources": [{"role": "archive", "place": "corpus.zip, in the folder local_files.drugs", "url": None,
          "check": None, "record": RECORD}],
        "published": {"train": {"name": "train.tsv", "sha256": "c" * 64}}, "variants": ["drugs@blue"],
    }  # fmt: skip
    return build(PageRecipe, values | changes, "here")


def put_record(results: Path, sha256: str = "5" * 64) -> None:
    path = results / RECORD
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"url": "file:///home/somebody/secret/corpus.zip", "bytes": 5, "sha256": sha256}
    path.write_text(json.dumps({**record, "origin": "local", "retrieved": "2026-01-02T03:04:05"}))


def page(results: Path, made: PageRecipe | None = None, **card: Any) -> Page:
    made = made or recipe()
    made_up.write(results, made_up.card(made.name, made.kind, **card))
    put_record(results)
    return make_page(made, results)


def render(page: Page) -> str:
    """The page as the report has it."""
    template = '{% import "_dataset_page.html.j2" as pages %}{{ pages.content(page) }}'
    return environment().from_string(template).render(page=page)


def test_a_page_holds_every_part(tmp_path: Path) -> None:
    text = parsed(render(page(tmp_path))).text_content()
    for part in (
        "10 ✓", "CPR:3", "20.0 %", "95th percentile", "12.25", "contradictory texts", "test, train",
        "what the chemical does", "upregulates", "guidelines of the drugs", "no sentence",
        "3 inputs of test are also in train", "Table 3 prints 99.", "a note", "drugs@blue",
        "the licence of the drugs", "https://example.org/apply", "only for people who were granted access",
        "corpus.zip, in the folder", "5" * 64, "came by local, 2026-01-02", "export drugs@blurb FOLDER",
        "c" * 64, "a file of the user's own, which the specification does not pin",
    ):  # fmt: skip
        assert part.lower() in " ".join(text.split()).lower(), part


def test_made_up_data_is_said_to_be_and_words_stand_for_mentions_without_a_beginning(tmp_path: Path) -> None:
    counts = {**made_up.COUNTS["tokens"], **made_up.COMMON, "mentions": 0, "mentions.Drug": 0}
    scale = {"made_up": True, "scale": "demo", "scale_title": "demo scale, made-up data"}
    made = page(tmp_path, recipe(kind="tokens", label="", **scale), counts={"test": counts, "train": counts})
    assert made.warning == "demo scale, made-up data"
    assert (made.title, made.labels_are) == ("drugs@blurb", "labelled words by type")
    assert [(name, cells[0].value) for name, cells in made.labels] == [("Drug", 3)]


def test_a_page_holds_no_path_of_this_machine_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    made = page(tmp_path)
    assert "/home/somebody" not in render(made)
    found = parsed(render(made))
    assert not found.xpath("//script | //link | //img | //@src")
    assert len(found.xpath("//@id")) == len(set(found.xpath("//@id")))


def test_names_notes_and_labels_are_escaped(tmp_path: Path) -> None:
    counts = {**made_up.COMMON, "examples": 1, f"labels.{HOSTILE}": 1}
    glosses = {"annotated": HOSTILE, "labels": {"x": HOSTILE}, "source": HOSTILE}
    texts: dict[str, Any] = dict.fromkeys(("label", "licence", "negative"), HOSTILE)
    texts |= {"conflicts": [HOSTILE], "notes": [HOSTILE], "glosses": glosses}
    made = page(tmp_path, recipe(**texts), counts={"train": counts})
    assert not parsed(render(made)).xpath("//script")


@pytest.mark.parametrize(("changes", "message"), [
    ({"name": "drugs@blue"}, "is the card of drugs@blurb, expected drugs@blue"),
    ({"role": "other"}, "was made from .other of drugs@blurb"),
    ({"sha256": "6" * 64}, "describes another file than .*card.json was made from"),
])  # fmt: skip
def test_a_card_of_another_dataset_or_of_other_sources_is_refused(
    tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    made_up.write(tmp_path, made_up.card("drugs@blurb", "sequence"))
    put_record(tmp_path, changes.pop("sha256", "5" * 64))
    source = {"role": changes.pop("role", "archive"), "place": "a.zip", "record": RECORD, "url": None}
    with pytest.raises(PubmillError, match=message):
        make_page(recipe(sources=[source | {"check": None}], **changes), tmp_path)


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
    assert "expected 6" in render(made)
    train, test = {"labels.x": 1, "labels.y": 3}, {"labels.x": 2}
    labels = page(tmp_path, counts={"test": test, "train": train}).labels
    assert [[cell.share for cell in cells] for _, cells in labels] == [[0.25, 1.0], [0.75, 0.0]]
