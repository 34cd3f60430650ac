"""The miniature SQuAD and BioASQ: stated counts, published forms, and no leak of licensed text."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.convert.dataset import convert
from pubmill.convert.exports import publish
from pubmill.examples.kinds import SpanExample, read_examples
from tests.dataset_specs import conversion_of, inputs_of, published_of
from tests.world.answers import part
from tests.world.lexicon import make_lexicon

WORLD = part(make_lexicon(1), 1)


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    for path, content in WORLD.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def test_the_published_form_of_factoids_is_squads(mirror: Path, tmp_path: Path) -> None:
    name = "bioasq-factoid@6b"
    convert(replace(conversion_of(name), expect={}), inputs_of(name, mirror), tmp_path / "d")
    publish(published_of(name), tmp_path / "d", tmp_path / "out")
    made = json.loads((tmp_path / "out/bioasq-factoid-6b-train.json").read_text())
    ids = [
        qa["id"] for article in made["data"] for paragraph in article["paragraphs"] for qa in paragraph["qas"]
    ]
    assert ids == [one.id for one in read_examples(tmp_path / "d/train.jsonl.gz", SpanExample)]
    assert made["version"] == "1.1"


def test_yes_no_is_published_as_blurbs_rows(mirror: Path, tmp_path: Path) -> None:
    name = "bioasq-yesno"
    recipe = replace(conversion_of(name), expect={})
    convert(recipe, inputs_of(name, mirror), tmp_path / "d")
    publish(published_of(name), tmp_path / "d", tmp_path / "out")
    rows = [row.split("\t") for row in (tmp_path / "out/dev.tsv").read_text().splitlines()]
    assert {row[0] for row in rows} == set(recipe.options["dev_questions"])
    assert {row[3] for row in rows} == {"yes", "no"}
    assert {len(row) for row in rows} == {4}
