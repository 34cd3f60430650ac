"""Studies: those of the papers have all tables of their paper; models that a study pretrains itself."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from pubmill.errors import PubmillError
from pubmill.recipes.models import PretrainedWeights, TrainingStart
from pubmill.specs import Specs, load
from pubmill.specs.study import (
    Study,
    check_files,
    check_study,
    configuration_files,
    scale_of_table,
    study_of_scale,
    with_own_weights,
    without_demo,
)
from pubmill.stages import Graph, checked_graph
from pubmill.stages.stage import requested_reports

PAPERS = sorted(path.name for path in (Path(__file__).parents[3] / "specs/tables").iterdir())


@pytest.mark.parametrize("paper", PAPERS)
def test_the_study_of_a_paper_has_all_its_tables(root: Path, paper: str) -> None:
    tables = sorted(f"{paper}/{path.stem}" for path in (root / f"specs/tables/{paper}").glob("*.yaml"))
    name = {"real": "first-real"}.get(paper, paper)
    study = yaml.safe_load((root / f"studies/{name}.yaml").read_text())
    assert study["tables"] == tables != []


def study(root: Path, *pretrain: str) -> Graph:
    config = {"study": "x", "title": "x", "scale": "full", "tables": ["tinn2021/table02"]}
    return checked_graph(*check_study({**config, "pretrain": list(pretrain)}, root / "specs"))


def test_a_study_may_pretrain_what_was_released(root: Path) -> None:
    before, after = study(root), study(root, "pubmedelectra-base")
    assert before.models.weights("pubmedelectra-base").kind == "hub"
    own = PretrainedWeights(recipe="pubmedelectra-base", step=62_500)
    assert after.models.weights("pubmedelectra-base") == own
    assert set(after.scope.pretrainings()) - set(before.scope.pretrainings()) == {"pubmedelectra-base"}
    for name, problem in (("biobert-base", "no recipe makes the weights of biobert-base"), ("x", "x")):
        with pytest.raises(PubmillError, match=f"configuration: pretrain: .*{problem}"):
            study(root, name)


def test_a_study_cannot_pretrain_models_whose_recipes_start_from_each_other(full_specs: Specs) -> None:
    name = "pubmedelectra-base"
    started = full_specs.pretraining[name].model_copy(update={"start": TrainingStart(model=name)})
    models = {name: full_specs.models[name]}
    looped = full_specs.model_copy(update={"pretraining": {name: started}, "models": models})
    message = f"^configuration: pretrain: pretraining/{name}: {name} depends on itself; change its `start` or"
    with pytest.raises(PubmillError, match=message):
        with_own_weights(looped, [name])
    assert with_own_weights(looped, []) == looped


STUDY = {"study": "mine", "title": "T", "scale": "demo", "tables": []}


@pytest.mark.parametrize(
    "changes", [{"study": "My study"}, {"results": "a{b}"}, {"results": "-r"}, {"tables": 1}]
)
def test_names_that_would_end_up_elsewhere_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Study.model_validate(STUDY | changes)


def write_studies(folder: Path, **scales: str) -> Path:
    folder.mkdir()
    for name, scale in scales.items():
        (folder / f"{name}.yaml").write_text(f"study: {name}\nscale: {scale}\n")
    return folder


def test_a_study_is_a_file_or_a_name(tmp_path: Path) -> None:
    folder = write_studies(tmp_path / "studies", mine="full")
    assert configuration_files("mine", folder) == [str(folder / "mine.yaml")]
    assert configuration_files(str(folder / "mine.yaml"), tmp_path) == [str(folder / "mine.yaml")]
    assert configuration_files("demo", folder) == []
    with pytest.raises(PubmillError, match=r"no study 'mien'; the nearest: mine, demo. Name a file, or one"):
        configuration_files("mien", folder)


def test_the_study_of_a_result_is_that_of_its_scale_and_paper(tmp_path: Path) -> None:
    folder = write_studies(tmp_path / "studies", a="full", b="full", c="small", d="demo")
    assert study_of_scale("full", folder, "results/full/tables/b/c-table01") == ["studies/b.yaml"]
    assert study_of_scale("full", folder, "results/full/tables/c/b-table01") == ["studies/a.yaml"]
    assert study_of_scale("small", folder, "results/small/models/b") == ["studies/c.yaml"]
    assert study_of_scale("demo", folder, "results/demo/d") == []
    assert study_of_scale("other", folder, "x") == []
    for name, scale in {"b": "full", "c": "small", "e": "small"}.items():
        (folder / f"{name}.yaml").write_text(
            f"study: {name}\nscale: {scale}\ntables: [{name}/table01, x/table01]\n"
        )
    (folder / "f.yaml").write_text("study: f\ntables: [g/table01]\n")  # at the scale of config.yaml
    (folder / "h.yaml").write_text("study: h\nscale: small\ntables: null\n")
    assert scale_of_table("g/table01", folder) == "demo"
    assert study_of_scale("small", folder, "e/table01") == ["studies/e.yaml"]
    assert [scale_of_table(f"{name}/table01", folder) for name in "bcxf"] == ["full", "small", "full", "full"]


def test_a_mistake_has_its_file_and_line_and_the_nearest_key(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, mine = tmp_path / "config.yaml", tmp_path / "studies/mine.yaml"
    mine.parent.mkdir()
    monkeypatch.chdir(tmp_path)
    base.write_text("study: demo\ntitle: T\nscale: demo\ntables: []\nmodels: null\n")
    mine.write_text("study: My study\nmodles: [x]\nmodels: [pubmedbert]\nauthor: {nam: x, orcid: y}\n")
    config = yaml.safe_load(base.read_text()) | yaml.safe_load(mine.read_text())
    with pytest.raises(PubmillError) as error:
        check_study(config, root / "specs", [base, mine])
    lines = str(error.value).splitlines()
    assert "studies/mine.yaml:1: study: expected lower-case letters, digits and - (found 'My study')" in lines
    assert "studies/mine.yaml:2: modles: unknown key; the nearest: models, keep_models, own_tables" in lines
    assert "studies/mine.yaml:4: author.nam: unknown key; the nearest: name, orcid" in lines
    with pytest.raises(PubmillError, match=r"author: expected keys with values \(found 'x'\)") as error:
        check_study(STUDY | {"author": "x", "tables": "y", "local_files": "z"}, root / "specs")
    assert "tables: expected a list (found 'y')" in str(error.value)
    assert "local_files: expected keys with values (found 'z')" in str(error.value)
    config = {key: config[key] for key in ("title", "scale", "tables", "models")} | {"study": "mine"}
    with pytest.raises(PubmillError, match="studies/mine.yaml:3: models: there is no model 'pubmedbert'"):
        check_study(config, root / "specs", [base, mine])
    with pytest.raises(PubmillError, match="^configuration: models: there is no model 'pubmedbert'"):
        check_study(config, root / "specs")


def test_a_study_names_what_extras_make_beside_its_report(root: Path) -> None:
    made = checked_graph(*check_study(STUDY | {"extras": list(words := requested_reports())}, root / "specs"))
    files = {made.paths.report("mine", ending) for ending in words.values()}
    assert files <= {*made.scope.everything()}
    for extras, problem in (
        (["nothing"], "there is no extra 'nothing'; the nearest: "),
        ("x", "expected a list"),
    ):
        with pytest.raises(PubmillError, match=f"^configuration: extras: {problem}"):
            checked_graph(*check_study(STUDY | {"extras": extras}, root / "specs"))


def test_an_empty_study_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("# nothing yet\n")
    with pytest.raises(PubmillError, match="empty.yaml:1: empty; expected the keys of a study"):
        check_files([tmp_path / "empty.yaml"])


DEMO_STUDY = {
    "study": "demo", "title": "D", "scale": "demo", "tables": ["a/b"], "models": ["x"], "mirror": "here",
}  # fmt: skip


def merged(given: dict[str, Any]) -> dict[str, Any]:
    return without_demo({**DEMO_STUDY, "results": "there", **given}, DEMO_STUDY, given.keys())


def test_a_study_takes_nothing_from_config_yaml_that_describes_the_demo() -> None:
    mine = {"study": "mine", "title": "M", "scale": "full", "tables": ["c/d"]}
    none = {"models": None, "datasets": None, "mirror": None, "results": "there"}
    assert merged(mine) == mine | none
    chosen = {"models": ["y"], "mirror": "/m"}
    assert merged(mine | chosen) == mine | none | chosen
    assert merged(mine | {"scale": "demo"})["mirror"] == "here", "which has the files of the scale"
    for overlay in ({"tables": ["c/d"]}, {"study": "demo", "mirror": "/m"}):
        assert merged(overlay) == DEMO_STUDY | {"results": "there"} | overlay
    with pytest.raises(PubmillError, match="study mine lacks `title:`, `tables:`; write it into its file"):
        merged({"study": "mine", "scale": "full"})


def test_a_misspelt_key_that_a_study_needs_has_its_place_and_nothing_else_is_said(tmp_path: Path) -> None:
    given = {"study": "mine", "title": "M", "scale": "full", "tabels": []}
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(given, sort_keys=False))
    with pytest.raises(PubmillError) as error:
        without_demo({**DEMO_STUDY, **given}, DEMO_STUDY, given.keys(), [file])
    assert str(error.value).startswith(f"{file}:4: tabels: unknown key; the nearest: tables")
    assert len(str(error.value).splitlines()) == 1


def test_a_study_has_the_name_of_its_file(root: Path, tmp_path: Path) -> None:
    given = OF_A_PAPER | {"study": "lab2"}
    for name in ("lab", "lab2", "config"):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(given, sort_keys=False))
    with pytest.raises(PubmillError, match=r"lab\.yaml:1: study must be 'lab', as the file is called"):
        check_study(given, root / "specs", [tmp_path / "lab.yaml"])
    for name in ("lab2", "config"):
        assert check_study(given, root / "specs", [tmp_path / f"{name}.yaml"])[0].study == "lab2"


OF_A_PAPER = {"study": "x", "title": "x", "scale": "full", "tables": ["gu2020/table06"]}
BROKEN = "name: mine\nlabel: x\nlowercase: perhaps\nweights: {kind: folder, local: mine}\n"


def write(specs: Path, name: str, text: str) -> None:
    path = specs / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_mistakes_that_a_study_does_not_use_are_reported(
    specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each once, and not for each spec that depends on it."""
    whole = check_study(OF_A_PAPER, specs)[1]
    write(specs, "models/mine", BROKEN)
    write(specs, "datasets/broken", "name: broken\n  x: [\n")
    write(specs, "prompts/My prompts", "name: x\n")
    (specs / "tables/mine").mkdir()
    table = (specs / "tables/beyond/table01.yaml").read_text()
    write(specs, "tables/mine/table01", table.replace("pubmedqa", "broken"))
    found = check_study(OF_A_PAPER, specs)[1]
    assert found.models == whole.models and found.tables.keys() == whole.tables.keys()
    said = capsys.readouterr().err
    assert "left out, and not used by the study: specs/models/mine.yaml:3: lowercase: " in said
    assert "specs/datasets/broken.yaml:2: not valid YAML" in said and "required and missing" not in said
    assert "My prompts.yaml" in said and "specs/tables/mine/table01.yaml:" not in said
    assert "left out because they name these: 1 other spec\n" in said
    with pytest.raises(PubmillError, match=r"mistake\(s\) in "):
        load(specs, "full")


@pytest.mark.parametrize(("name", "old", "new"), [
    ("datasets/bc2gm", "metric: entity_f1", "metric: entity_f2"),
    ("models/bert-base-uncased", "lowercase: true", "lowercase: small"),
    ("protocols/blurb", "keep: last", "keep: lost"),
])  # fmt: skip
def test_a_mistake_is_told_once_however_many_specs_name_its_file(
    specs: Path, name: str, old: str, new: str
) -> None:
    file = specs / f"{name}.yaml"
    text = file.read_text()
    assert text.count(old) == 1
    write(specs, name, text.replace(old, new))
    with pytest.raises(PubmillError, match=rf"\A1 mistake\(s\) in [^\n]*:\nspecs/{name}\.yaml:\d+: [^\n]*\Z"):
        check_study(OF_A_PAPER, specs)


@pytest.mark.parametrize(("changed", "name", "text"), [
    ({"models": ["mine"]}, "models/mine", BROKEN), ({"pretrain": ["mine"]}, "models/mine", BROKEN),
    ({"datasets": ["bc2gm"]}, "datasets/bc2gm", "name: bc2gm\n"),
    ({}, "models/mine", BROKEN + "tables: [gu2020/table06]\n"), ({}, "protocols/blurb", "name: blurb\n"),
    ({}, "models/scibert-cased", "name: [\n"), ({}, "scales/full", "name: full\n"),
])  # fmt: skip
def test_mistakes_in_what_a_study_uses_stop_it(
    specs: Path, changed: dict[str, list[str]], name: str, text: str
) -> None:
    write(specs, name, text)
    with pytest.raises(PubmillError, match=rf"mistake\(s\) in [^\0]*specs/{name}\.yaml:"):
        check_study(OF_A_PAPER | changed, specs)
