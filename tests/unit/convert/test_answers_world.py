"""The miniature SQuAD and BioASQ: stated counts, published forms, and no leak of licensed text."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.convert.dataset import convert
from pubmill.convert.exports import publish
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SpanExample, read_examples
from tests.dataset_specs import conversion_of, inputs_of, published_of
from tests.world.answers import part
from tests.world.lexicon import make_lexicon
from tests.world.part import CANARY

WORLD = part(make_lexicon(1), 1)


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    for path, content in WORLD.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


@pytest.mark.parametrize("name", WORLD.expect)
def test_the_world_has_what_it_says_in_the_measures_of_the_specs(
    mirror: Path, tmp_path: Path, name: str
) -> None:
    recipe, expect = conversion_of(name), WORLD.expect[name]
    assert {split: set(measures) for split, measures in recipe.expect.items()} == {
        split: set(measures) for split, measures in expect.items()
    }
    card = convert(replace(recipe, expect=expect), inputs_of(name, mirror), tmp_path / "d")
    assert card["access"] == "public" or CANARY not in json.dumps(card)
    assert all(card["counts"][split]["examples"] >= 30 for split in recipe.splits)


def test_every_question_and_context_of_the_world_has_the_canary(mirror: Path, tmp_path: Path) -> None:
    recipe = replace(conversion_of("bioasq-factoid@7b"), expect={})
    convert(recipe, inputs_of("bioasq-factoid@7b", mirror), tmp_path / "d")
    for example in read_examples(tmp_path / "d/test.jsonl.gz", SpanExample):
        assert CANARY in example.question
        assert CANARY in example.context


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


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("bioasq-yesno", (b'"exact_answer": "yes"', f'"exact_answer": "{CANARY}"'.encode())),
        ("bioasq-factoid@7b", (b'"type": "factoid"', f'"type": "{CANARY}"'.encode())),
        ("bioasq-factoid@7b-biobert", (b'"answer_start": ', b'"answer_start": 1')),
    ],
)
def test_no_message_has_licensed_text(
    mirror: Path, tmp_path: Path, name: str, damage: tuple[bytes, bytes]
) -> None:
    inputs = {role: tmp_path / path.name for role, path in inputs_of(name, mirror).items()}
    for role, path in inputs_of(name, mirror).items():
        inputs[role].write_bytes(
            damaged(path.read_bytes(), *damage) if role == "train" else path.read_bytes()
        )
    with pytest.raises(PubmillError) as error:
        convert(conversion_of(name), inputs, tmp_path / "d")
    assert CANARY not in str(error.value)
    assert not (tmp_path / "d").exists()


def damaged(content: bytes, old: bytes, new: bytes) -> bytes:
    """The content with the first `old` replaced, in a zip's members too."""
    if not content.startswith(b"PK"):
        return content.replace(old, new, 1)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(packed, "w") as after:
        for name in before.namelist():
            after.writestr(name, before.read(name).replace(old, new, 1))
    return packed.getvalue()
