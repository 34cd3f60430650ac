"""Prompts: what they have of an example, of a spec, and of its glosses."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.prompts import Wording, prompt_of, published_template, wording_of
from pubmill.recipes.finetuning import Dummies
from pubmill.specs.dataset_specs import TASKS, DatasetSpec
from pubmill.specs.loading import load
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


def test_prompts_say_what_is_annotated_and_what_labels_mean(root: Path) -> None:
    specs = load(root / "specs", "full").datasets
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


def test_a_dataset_without_glosses_is_asked_for_by_its_types(root: Path) -> None:
    specs = load(root / "specs", "full").datasets

    def asked(name: str, labels: list[str]) -> str:
        spec = specs[name].model_copy(update={"glosses": None})
        return prompt_of(toy.examples("ner")[0], wording_of(spec, labels, toy.TEMPLATES[spec.task]))

    assert "List every mention of gene in the sentence" in asked("bc2gm", [""])
    assert "every mention of Drug or Dose in" in asked("jnlpba", ["Drug", "Dose"])
    assert "the types are Drug, Dose." in asked("jnlpba", ["Drug", "Dose"])
    assert "Wanted is the relation that the text states" in asked("gad@blurb", ["0", "1"])


def test_every_label_whose_name_is_a_code_has_a_gloss(root: Path) -> None:
    """The labels that `expect` counts; names of hallmarks, answers and entailments are words."""
    for name, spec in load(root / "specs", "full").datasets.items():
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


def test_every_task_has_a_template() -> None:
    assert {task for tasks in TASKS.values() for task in tasks} == toy.TEMPLATES.keys()


def test_a_published_prompt_has_the_input_at_its_place(tmp_path: Path, root: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text('\ufeffAnswer {"a": } for {Input}\n', encoding="utf-8")
    spec = load(root / "specs", "full").datasets["chemprot@blurb"]
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


def test_dummies_of_a_dataset_without_any_are_an_error(root: Path) -> None:
    spec = load(root / "specs", "full").datasets["biosses"]
    with pytest.raises(PubmillError, match="the dataset's spec has no `dummies`"):
        wording_of(spec, [], "{dummies}")
