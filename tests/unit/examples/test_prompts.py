"""Prompts: what they have of an example, of a spec, and of its glosses."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.examples.prompts import (
    Wording,
    labels_of,
    marked_text,
    prompt_of,
    published_template,
    right_answer,
    wording_of,
)
from pubmill.recipes.finetuning import Dummies
from pubmill.specs import Specs
from pubmill.specs.dataset_specs import TASKS, DatasetSpec
from tests.unit import toy_examples as toy


def test_prompts_have_the_input_and_braces_in_it_stay() -> None:
    [one, *_] = toy.examples("rel")
    wording = Wording(
        toy.TEMPLATES["relation"], {"annotated": "what {text} does", "labels": "activates, blocks"}
    )
    prompt = prompt_of(one, wording)
    assert "Wanted is what {text} does." in prompt and "Labels: activates, blocks\n" in prompt
    assert "In 1 assays [E1] drug1 [/E1] changed [E2] gene1 [/E2] levels." in prompt
    pair: Any = toy.examples("sim")[0]
    object.__setattr__(pair, "text", "a {labels} {x}")
    assert prompt_of(pair, Wording("{text} & {text_pair}", {})) == "a {labels} {x} & Two 1."


def test_prompts_say_what_is_annotated_by_glosses_or_by_types(full_specs: Specs) -> None:
    specs = full_specs.datasets
    relation = wording_of(specs["chemprot@blurb"], ["CPR:3", "CPR:9", "false"], toy.TEMPLATES["relation"])
    [example, *_] = toy.examples("rel")
    prompt = prompt_of(example, relation)
    for part in ("the relation of the chemical to the gene", "CPR:9 (the chemical is its substrate or"):
        assert part in prompt
    [sentence, *_] = toy.examples("ner")
    [several, one] = [
        prompt_of(sentence, wording_of(specs[name], labels, toy.TEMPLATES[specs[name].task]))
        for name, labels in (("ebm-pico", ["INT", "OUT", "PAR"]), ("ncbi-disease", [""]))
    ]
    assert "the types are INT (interventions and what they are compared with); OUT" in several
    assert "List every mention of diseases: specific ones" in one and "type" not in one
    assert not any(mark in prompt + several + one for mark in "{}")
    specs = full_specs.datasets

    def asked(name: str, labels: list[str]) -> str:
        spec = specs[name].model_copy(update={"glosses": None})
        return prompt_of(toy.examples("ner")[0], wording_of(spec, labels, toy.TEMPLATES[spec.task]))

    assert "List every mention of gene in the sentence" in asked("bc2gm", [""])
    assert "every mention of Drug or Dose in" in asked("jnlpba", ["Drug", "Dose"])
    assert "the types are Drug, Dose." in asked("jnlpba", ["Drug", "Dose"])
    assert "Wanted is the relation that the text states" in asked("gad@blurb", ["0", "1"])


def test_every_task_has_a_template_and_every_code_a_gloss(full_specs: Specs) -> None:
    """The labels that `expect` counts; names of hallmarks, answers and entailments are words."""
    for name, spec in full_specs.datasets.items():
        assert isinstance(spec, DatasetSpec) and spec.glosses, name
        labels = {
            measure.removeprefix(beginning)
            for counts in spec.expect.values()
            for measure in counts
            for beginning in ("labels.", "mentions.", "words.")
            if measure.startswith(beginning)
        }
        if spec.task in ("classification", "yes-no", "inference") or len(labels) == 1:
            continue
        assert labels <= spec.glosses.labels.keys(), name
    assert {task for tasks in TASKS.values() for task in tasks} == toy.TEMPLATES.keys()


def test_a_published_prompt_has_the_input_at_its_place(tmp_path: Path, full_specs: Specs) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text('\ufeffAnswer {"a": } for {Input}\n', encoding="utf-8")
    spec = full_specs.datasets["chemprot@blurb"]
    [example, *_] = toy.examples("rel")
    types = {entity.type: f"@{entity.type}$" for entity in example.entities}  # type: ignore[attr-defined]
    wording = wording_of(spec, ["CPR:3", "CPR:9"], published_template(file, "{Input}", "{dummies}"))
    found = prompt_of(example, wording._replace(dummies=Dummies(types=types, overlap="@BOTH$")))
    assert found.startswith('Answer {"a": } for ') and all(dummy in found for dummy in types.values())


@pytest.mark.parametrize(("text", "times"), [("no place", 0), ("{Input} and {Input}", 2)])
def test_a_published_prompt_without_one_place_is_an_error(tmp_path: Path, text: str, times: int) -> None:
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(PubmillError, match=rf"p\.txt: {{Input}} stands {times} times in this prompt"):
        published_template(tmp_path / "p.txt", "{Input}", "{text}")


def test_concepts_follow_the_text_and_dummies_need_a_spec(full_specs: Specs) -> None:
    assert prompt_of(RELATIONS, Wording("<{text}>", {})) == (
        "<Pain and drug and pain.\n\nConcepts: D1 (Pain); C1 (drug)>"
    )
    spec = full_specs.datasets["biosses"]
    with pytest.raises(PubmillError, match="the dataset's spec has no `dummies`"):
        wording_of(spec, [], "{dummies}")


WORDS, NESTED = ["Old", "drug", "and", "pain"], [kinds.WordSpan(0, 2, "Drug"), kinds.WordSpan(1, 2, "Name")]
RELATIONS = kinds.RelationsExample(
    id="7", document="7", text="Pain and drug and pain.",
    entities=[
        kinds.Entity(start=start, end=start + 4, type=kind, id=name)
        for start, kind, name in ((0, "Disease", "D1"), (9, "Chemical", "C1"), (18, "Disease", "D1"))
    ],
    pairs=[["C1", "D1"]], relations=[["C1", "D1", "causes", "Novel"], ["C1", "D1", "eases"]],
)  # fmt: skip


@pytest.mark.parametrize(("example", "expected"), [
    (RELATIONS, "causes: C1 | D1\neases: C1 | D1"), (replace(RELATIONS, relations=[]), "none"),
    (kinds.TokensExample(id="1", document=None, words=WORDS, labels=["B-Drug", "I-Drug", "O", "B-Sign"]),
     "Drug: Old drug\nSign: pain"),
    (kinds.TokensExample(id="1", document=None, words=WORDS, labels=["O"] * 4), "none"),
    (kinds.MentionsExample(id="1", document=None, words=WORDS, mentions=NESTED),
     "Drug: Old drug\nName: drug"),
    (kinds.SequenceExample(id="1", document=None, text="a", label="yes"), "yes"),
    (kinds.MultilabelExample(id="1", document=None, text="a", labels=["x", "y"]), "x; y"),
    (kinds.MultilabelExample(id="1", document=None, text="a", labels=[]), "none"),
    (kinds.RegressionExample(id="1", document=None, text="a", text_pair="b", score=2.50), "2.5"),
])  # fmt: skip
def test_the_right_answer_has_the_form_that_prompts_ask_for(example: kinds.Example, expected: str) -> None:
    assert right_answer(example, typed=True) == expected
    if isinstance(example, kinds.TokensExample | kinds.MentionsExample):
        bare = "\n".join(line.rpartition(": ")[2] for line in expected.split("\n"))
        assert right_answer(example, typed=False) == bare


def test_answers_and_marked_arguments() -> None:
    answers = [kinds.Answer(text="Old", start=0), kinds.Answer(text="drug", start=4)]
    asked: Any = kinds.SpanExample(id="1", document=None, question="?", context="Old drug", answers=answers)
    assert right_answer(asked, typed=True) == "Old"
    assert right_answer(replace(asked, items=[["Old"], ["drug"]]), typed=True) == "Old\ndrug"
    assert right_answer(replace(asked, answers=[]), typed=True) == "none"
    drug, pain, old = (
        kinds.Entity(start=start, end=end, type="X") for start, end in ((4, 8), (13, 17), (0, 3))
    )
    text = "Old drug and pain."
    both = kinds.SequenceExample(id="1", document=None, text=text, label="x", entities=[drug, pain])
    assert marked_text(both) == "Old [E1] drug [/E1] and [E2] pain [/E2]."
    for entities in ([drug], [drug, pain, old]):
        assert marked_text(replace(both, entities=entities)) == text


@pytest.mark.parametrize(("kind", "counted", "labels"), [
    ("tokens", "words.", ("A", "B")), ("mentions", "mentions.", ("A", "B")),
    ("sequence", "labels.", ("A", "B")), ("sequence", "words.", ()), ("tokens", "labels.", ("",)),
])  # fmt: skip
def test_labels_are_those_counted_in_any_split(kind: str, counted: str, labels: tuple[str, ...]) -> None:
    counts = {"train": {f"{counted}B": 2, "examples": 3}, "dev": {f"{counted}A": 1, f"{counted}B": 1}}
    assert labels_of({"kind": kind, "counts": counts}) == labels
