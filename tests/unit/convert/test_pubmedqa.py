"""PubMedQA: the authors' draws, and files that disagree with each other."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.pubmedqa import read, split
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample
from tests.world.documents import part
from tests.world.lexicon import make_lexicon

Questions = dict[str, Any]
ENTRY = {"QUESTION": "Why?", "CONTEXTS": ["So.", "And so."], "final_decision": "yes"}


@pytest.fixture(scope="module")
def world() -> dict[str, Questions]:
    """Return the files of the miniature world, whose generator draws the split independently."""
    files = part(make_lexicon(1), 1)
    return {path.rpartition("/")[2]: json.loads(text) for path, text in files.items() if "pubmedqa" in path}


def convert(folder: Path, questions: Any, test: Any, name: str = "dev") -> list[SequenceExample]:
    inputs = {"questions": folder / "questions.json", "ground_truth": folder / "test.json"}
    for path, content in zip(inputs.values(), (questions, test), strict=True):
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return list(read(ConverterInput(name, inputs, {}, Counter())))


def test_the_split_is_the_one_that_is_listed(tmp_path: Path, world: dict[str, Questions]) -> None:
    questions, listed = world["ori_pqal.json"], world["test_ground_truth.json"]
    found = {name: convert(tmp_path, questions, listed, name) for name in ("train", "dev", "test")}
    assert [(example.id, example.label) for example in found["test"]] == list(listed.items())
    assert sorted(example.id for examples in found.values() for example in examples) == sorted(questions)
    one = found["dev"][0]
    assert one.document == one.id
    assert one.text == questions[one.id]["QUESTION"]
    assert one.text_pair == " ".join(questions[one.id]["CONTEXTS"])
    third = list(listed)[2]
    other = {"yes": "no"}.get(listed[third], "yes")
    with pytest.raises(PubmillError, match=r"test\.json lists .* they differ from number 3 on"):
        convert(tmp_path, questions, {**listed, third: other})
    with pytest.raises(PubmillError, match=f"lists {len(listed) - 1} test questions; {len(listed)} are dr"):
        convert(tmp_path, questions, dict(list(listed.items())[:-1]))


def test_folds_of_unequal_size_give_a_question_each_to_the_last() -> None:
    decisions = dict.fromkeys(map(str, range(552)), "yes")
    decisions |= dict.fromkeys(map(str, range(1000, 1338)), "no")
    decisions |= dict.fromkeys(map(str, range(2000, 2110)), "maybe")
    made = split(decisions, "questions.json")
    assert {name: len(pmids) for name, pmids in made.items()} == {"train": 450, "dev": 50, "test": 500}
    assert made == split(dict(decisions), "questions.json")
    assert made != split(dict(reversed(decisions.items())), "questions.json")


@pytest.mark.parametrize(("questions", "message"), [
    ({"1": {**ENTRY, "final_decision": "perhaps"}}, "questions.json: 1: expected .* a final_decision"),
    ({"1": {**ENTRY, "CONTEXTS": []}}, "1: expected a PMID with a QUESTION and a list of CONTEXTS"),
    *(({"1": {**ENTRY, **wrong}}, "1: expected a PMID with")
      for wrong in ({"CONTEXTS": "So."}, {"CONTEXTS": [None]}, {"QUESTION": " "})),
    *(({"1": wrong}, "1: expected a PMID with") for wrong in ({"QUESTION": "Why?"}, "yes")),
    ({"x1": ENTRY}, "x1: expected a PMID with"),
    ({"1": ENTRY, "2": ENTRY}, "too few to be cut into 10 parts"),
    ([ENTRY], "expected an object in JSON, found list"),
    ('{"1": {}, "1": {}}', "the key 1 occurs twice in one object"),
    ('{\n"1": {}, \n', r"questions\.json: not valid JSON: .* at line 3"),
])  # fmt: skip
def test_another_form_is_reported(tmp_path: Path, questions: Any, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        convert(tmp_path, questions, {})
