"""SQuAD rebuilt from its authors' own pages (the official files cannot be passed on), and original XQuAD."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.convert import squad
from pubmill.convert.dataset import convert
from pubmill.convert.dataset_counts import count
from pubmill.convert.exports import WriterOptions, publish
from pubmill.convert.source_files import ConverterInput
from tests.acceptance.conftest import mostly_weekly
from tests.dataset_specs import conversion_of, published_of

XQUAD = (
    "raw.githubusercontent.com/google-deepmind/xquad/7d30520c717524000f0d9d2f9c10a069acd9d285/xquad.en.json"
)
FILES = {
    "squad-v1": {"train": "train-v1.1.json.gz", "dev": "dev-v1.1.json"},
    "squad-v2": {"dev": "dev-v2.0.json"},
}


@pytest.mark.parametrize("name", mostly_weekly(FILES, "squad-v2"))
def test_counts_are_those_of_the_spec(name: str, shared: Path) -> None:
    """Count without writing the examples, as writing takes most of a conversion's time here."""
    expect = conversion_of(name).expect
    for split, file in FILES[name].items():
        source = shared / "standins/squad" / file
        found = count(list(squad.read(ConverterInput(split, {split: source}, {}, Counter()))))
        assert {measure: found[measure] for measure in expect[split]} == expect[split]
        assert found["repeated_documents"] == 0


def test_the_published_form_of_dev_holds_what_the_file_holds(shared: Path, tmp_path: Path) -> None:
    source = shared / "standins/squad/dev-v2.0.json"
    recipe = conversion_of("squad-v2")
    convert(replace(recipe, splits=("dev",), expect={}), {"dev": source}, tmp_path / "d")
    form = published_of("squad-v2")
    publish(replace(form, files={"dev": form.files["dev"]}), tmp_path / "d", tmp_path / "out")
    assert json.loads((tmp_path / "out/dev-v2.0.json").read_text()) == json.loads(source.read_text())


def test_xquad_is_an_original_file_of_the_same_form(shared: Path) -> None:
    for path in (shared / "mirror" / XQUAD, shared / "standins/squad/xquad.en.json"):
        examples = list(squad.read(ConverterInput("dev", {"dev": path}, {}, Counter())))
        found = count(examples)
        assert (found["examples"], found["contexts"], found["documents"]) == (1190, 240, 48)
        written = "".join(squad.write(examples, WriterOptions({"version": "1.1"}, None)))
        assert json.loads(written) == json.loads(path.read_text())
