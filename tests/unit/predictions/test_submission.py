"""Reading a file of predictions: what a licensed dataset shows, splits without examples, numbers in words."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import write_examples
from pubmill.predictions.scores import examples_of
from tests.unit.predictions import toy_datasets as toy

BROKEN = '<?xml version="1.0"?><collection><document><id>SECRET</id><passage>'


@pytest.mark.parametrize(("access", "withheld"), [("public", False), ("credentialed", True)])
def test_faults_of_licensed_texts_are_withheld(access: str, withheld: bool, tmp_path: Path) -> None:
    toy.make(tmp_path, "ner", access=access)
    with pytest.raises(PubmillError) as error:
        toy.score(tmp_path, "ner", BROKEN)
    said = "predictions: not valid bioc-xml; the message is withheld, as it may contain licensed text"
    assert (said in str(error.value)) is withheld


def test_a_split_without_examples_is_named(tmp_path: Path) -> None:
    folder = toy.make(tmp_path, "rel")
    write_examples(folder / "test.jsonl.gz", [])
    with pytest.raises(PubmillError, match=f"^{folder} has no examples of test; convert the dataset again$"):
        examples_of(folder, toy.recipe(tmp_path, "rel"))


def test_a_score_in_a_free_answer_is_its_number(tmp_path: Path) -> None:
    toy.make(tmp_path, "sim")
    rows = [{"id": one.id, "output": f"{toy.gold(one)}"} for one in toy.examples("sim")]
    rows[0]["output"] = f"**{rows[0]['output']}**"
    content = toy.jsonl_of(rows)
    assert toy.score(tmp_path, "sim", content).metrics["pearson"] == pytest.approx(1.0)
    with pytest.raises(PubmillError, match="expected a finite number; a correlation cannot count"):
        toy.score(tmp_path, "sim", content.replace("2.25", "none", 1))
    marked = content.replace('"output"', '"score"')
    with pytest.raises(PubmillError, match=r"predictions:1: expected a finite number"):
        toy.score(tmp_path, "sim", marked)
