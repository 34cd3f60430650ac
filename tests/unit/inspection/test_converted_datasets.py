"""Datasets that programs look for in the results."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.inspection.converted_datasets import converted_folder, specs_of_results, template_text
from pubmill.specs.model_specs import PublishedPrompt
from pubmill.storage.files import write_json


def test_a_dataset_that_is_not_converted_has_the_command_that_makes_it(root: Path, tmp_path: Path) -> None:
    results = tmp_path / "full"
    with pytest.raises(
        PubmillError, match=r"full/datasets/bc2gm is not there yet\. Make it: .*bc2gm/card\.json"
    ):
        converted_folder(root, results, "bc2gm")
    write_json(results / "datasets/bc2gm/card.json", {})
    assert converted_folder(root, results, "bc2gm") == results / "datasets/bc2gm"


def test_results_are_in_a_folder_named_as_a_scale(root: Path, tmp_path: Path) -> None:
    assert specs_of_results(root, tmp_path / "demo").scale.name == "demo"
    with pytest.raises(PubmillError, match="expected a folder named as a scale: results/full"):
        specs_of_results(root, tmp_path / "mine")


def test_a_template_is_its_own_text_and_a_published_prompt_that_of_its_file(
    root: Path, tmp_path: Path
) -> None:
    results = tmp_path / "full"
    url = "https://example.org/prompts/ner.txt"
    published = PublishedPrompt(url=url, sha256="0" * 64, place="[INPUT]", input="{text}")
    templates = {"own": "Label {text}.", "theirs": published}
    prompts = {
        name: SimpleNamespace(template=lambda dataset, task, one=one: one) for name, one in templates.items()
    }
    specs: Any = SimpleNamespace(prompts=prompts, datasets={"bc2gm": SimpleNamespace(task="ner")})
    assert template_text(root, results, specs, "own", "bc2gm") == "Label {text}."
    for name, message in (
        ("owm", "there is no prompt 'owm'; the nearest: own"),
        ("theirs", r"ner\.txt is not there yet\. Make it: .*example\.org/prompts/ner"),
    ):
        with pytest.raises(PubmillError, match=message):
            template_text(root, results, specs, name, "bc2gm")
    file = results / "sources/example.org/prompts/ner.txt"
    file.parent.mkdir(parents=True)
    file.write_text("Find genes.\n[INPUT]\n")
    assert template_text(root, results, specs, "theirs", "bc2gm") == "Find genes.\n{text}\n"
