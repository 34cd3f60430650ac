"""Prompts as specs: every task has one, and mistakes are found before anything is asked."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs.loading import load
from pubmill.specs.prompt_specs import PLAIN, PromptSpec


def test_the_prompt_for_a_dataset_precedes_that_of_its_task() -> None:
    prompts = PromptSpec(name="own", citation="none", templates={"ner": "{words}", "bc2gm": "Genes: {words}"})
    assert prompts.template("bc2gm", "ner") == "Genes: {words}"
    assert prompts.template("jnlpba", "ner") == "{words}"
    with pytest.raises(PubmillError, match=r"specs/prompts/own\.yaml has no template for biosses or sim"):
        prompts.template("biosses", "similarity")


def test_published_prompts_are_files_with_a_hash_of_which_the_graph_knows_the_check(root: Path) -> None:
    published = load(root / "specs", "full").prompts["chen2025"]
    [hoc] = [one for one in published.published() if "Hoc" in one.url]
    assert published.template("hoc@blurb", "classification") == hoc
    assert hoc.url.endswith("/benchmarks/%5BMLC%5DHoc/prompt_zeroshot.txt")
    with pytest.raises(PubmillError, match=r"chen2025\.yaml has no template for bc2gm or ner"):
        published.template("bc2gm", "ner")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('ner: "{word}"', r"templates.ner: \{word\} stands for nothing; there are \{annotated\}, "),
        ('nre: "{words}"', r"nre: neither a dataset nor a task \(classification, "),
        ('ner: ""', "ner"),
        ('ner: {url: "https://example.org/a", place: x, input: "{words}"}', "sha256"),
        (f'ner: {{url: "http://example.org/a", sha256: {"0" * 64}, place: x, input: "{{words}}"}}', "url"),
        (f'ner: {{url: "https://example.org/a", sha256: {"0" * 64}, place: x, input: "{{word}}"}}', "word"),
    ],
)
def test_mistakes_name_file_and_line(root: Path, tmp_path: Path, line: str, fault: str) -> None:
    specs = tmp_path / "specs"
    (specs / "prompts").mkdir(parents=True)
    for path in (root / "specs").iterdir():
        if path.name != "prompts":
            (specs / path.name).symlink_to(path)
    (specs / "prompts/own.yaml").write_text(f"name: own\ncitation: none\ntemplates:\n  {line}\n")
    with pytest.raises(PubmillError, match=rf"specs/prompts/own\.yaml:[34]: .*{fault}"):
        load(specs, "full")


def test_every_dataset_has_a_plain_prompt(root: Path) -> None:
    specs = load(root / "specs", "full")
    for name, spec in specs.datasets.items():
        assert specs.prompts[PLAIN].template(name, spec.task)
