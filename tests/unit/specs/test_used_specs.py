"""A mistake in a spec stops the studies that use the spec, and no others."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import load
from pubmill.specs.study import check_study

STUDY = {"study": "x", "title": "x", "scale": "full", "tables": ["gu2020/table06"]}
BROKEN = "name: mine\nlabel: x\nlowercase: perhaps\nweights: {kind: folder, local: mine}\n"


def write(specs: Path, name: str, text: str) -> None:
    path = specs / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_mistakes_that_a_study_does_not_use_are_reported(
    specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even those of specs that depend on them."""
    whole = check_study(STUDY, specs)[1]
    write(specs, "models/mine", BROKEN)
    write(specs, "datasets/broken", "name: broken\n  x: [\n")
    write(specs, "prompts/My prompts", "name: x\n")
    (specs / "tables/mine").mkdir()
    table = (specs / "tables/beyond/table01.yaml").read_text()
    write(specs, "tables/mine/table01", table.replace("dataset: pubmedqa", "dataset: broken"))
    found = check_study(STUDY, specs)[1]
    assert found.models == whole.models and found.tables.keys() == whole.tables.keys()
    said = capsys.readouterr().err
    assert "left out, and not used by the study: specs/models/mine.yaml:3: lowercase: " in said
    assert "specs/datasets/broken.yaml:2: not valid YAML" in said and "required and missing" not in said
    assert "My prompts.yaml" in said and "specs/tables/mine/table01.yaml:" in said
    with pytest.raises(PubmillError, match=r"mistake\(s\) in "):
        load(specs, "full")


@pytest.mark.parametrize(
    ("changed", "name", "text"),
    [
        ({"models": ["mine"]}, "models/mine", BROKEN),
        ({"pretrain": ["mine"]}, "models/mine", BROKEN),
        ({"datasets": ["bc2gm"]}, "datasets/bc2gm", "name: bc2gm\n"),
        ({}, "models/mine", BROKEN + "tables: [gu2020/table06]\n"),
        ({}, "protocols/blurb", "name: blurb\n"),
        ({}, "models/scibert-cased", "name: [\n"),
        ({}, "scales/full", "name: full\n"),
    ],
)
def test_mistakes_in_what_a_study_uses_stop_it(
    specs: Path, changed: dict[str, list[str]], name: str, text: str
) -> None:
    write(specs, name, text)
    with pytest.raises(PubmillError, match=rf"mistake\(s\) in [^\0]*specs/{name}\.yaml:"):
        check_study(STUDY | changed, specs)
