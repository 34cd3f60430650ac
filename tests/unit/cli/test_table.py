"""`pubmill table`: own models as columns of a table."""

import json
import shlex
from pathlib import Path

import pytest
import yaml

from pubmill.cli.studies import configuration
from pubmill.workflow.run_start import lock_results
from tests.unit.cli.conftest import Said
from tests.unit.tiny_encoders import tiny_bert


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tiny_bert(tmp_path / "My_BERT", ["gene", "protein"])


def test_a_folder_gets_a_spec_and_a_column(started: Said, checkout: Path, own: Path) -> None:
    command = started("table", "gu2020/table06", "--model", str(own), "--dataset", "bc2gm", "-c1")
    spec = yaml.safe_load((checkout / "specs/models/my-bert.yaml").read_text())
    weights = {"kind": "folder", "local": "my-bert"}
    assert spec == {"name": "my-bert", "label": "my-bert", "lowercase": True, "weights": weights}
    assert "results/full/tables/gu2020+my-bert/gu2020-table06.html" in command
    assert "own_tables=my-bert" in command
    assert "--configfile studies/gu2020.yaml" in command and command.endswith(" -c1")
    for setting in (["my-bert"], ["bc2gm"], {"my-bert": str(own)}):
        assert json.dumps(setting) in command
    assert started("table", "gu2020/table06", "--model", str(own), "--dataset", "bc2gm", "-c1") == command


def test_a_folder_is_remembered_and_its_name_is_enough(started: Said, checkout: Path, own: Path) -> None:
    (checkout / "workspace.yaml").write_text("mirror: /data\nlocal_files: {theirs: /there}\n")
    started("table", "gu2020/table06", "--model", str(own))
    remembered = {"mirror": "/data", "local_files": {"theirs": "/there", "my-bert": str(own)}}
    assert yaml.safe_load((checkout / "workspace.yaml").read_text()) == remembered
    assert configuration([], None)["local_files"] == remembered["local_files"]
    assert 'models=["my-bert"]' in started("table", "gu2020/table06", "--model", "my-bert")
    (checkout / "workspace.yaml").write_text("local_files: {a: b}\nlocal_files: {c: d}\n")
    assert "workspace.yaml:2" in started("table", "gu2020/table06", "--model", str(own))


def test_another_folder_of_the_name_is_refused_and_takes_another_name(
    started: Said, checkout: Path, own: Path, tmp_path: Path
) -> None:
    other = tiny_bert(tmp_path / "other" / own.name, ["gene", "protein"])
    verb = ("table", "gu2020/table06", "--model", str(own))
    both = started(*verb, "--model", str(other))
    started(*verb)
    before = snapshot(checkout)
    for said in (
        both,
        started("table", "gu2020/table06", "--model", str(other)),
        started("table", "gu2020/table06", "--model", str(other), "-n"),
        started("new", "model", str(other)),
    ):
        assert said.startswith(f"error: my-bert is the name of {own} (local_files in workspace.yaml)")
        assert f"give {other} another one with --name" in said
    assert snapshot(checkout) == before
    assert "--name is for one model" in started(*verb, "--model", str(other), "--name", "theirs")
    said = started("table", "gu2020/table06", "--model", str(other), "--name", "theirs")
    assert (
        f"{json.dumps({'my-bert': str(own), 'theirs': str(other)})}" in said and "own_tables=theirs" in said
    )
    assert (checkout / "specs/models/theirs.yaml").is_file()
    assert "--name is for a model that is given" in started(
        "table", "gu2020/table06", "--model", "my-bert", "--name", "theirs"
    )


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content, and every folder."""
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("option", ["-n", "--dry-run"])
def test_a_dry_run_writes_nothing(
    started: Said, checkout: Path, own: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[list[str]] = []
    monkeypatch.setattr(
        "pubmill.cli.run_requests.print_dry_run",
        lambda request, *_: listed.append([*request.config["models"], *request.config["local_files"]]),
    )
    before = snapshot(checkout)
    said = started("table", "gu2020/table06", "--model", str(own), option)
    assert snapshot(checkout) == before
    assert listed == [["my-bert", "my-bert"]] and "$ .venv/bin/snakemake results/full/" in said


def test_a_model_that_cannot_be_run_is_refused_and_leaves_no_spec(
    started: Said, checkout: Path, own: Path
) -> None:
    spec = "name: my-bert\nlabel: x\nlowercase: true\nreleased: {id: a/b, revision: null}\n"
    path = checkout / "specs/models/my-bert.yaml"
    path.write_text(spec)
    assert started("table", "gu2020/table06", "--model", str(own)) == (
        "error: specs/models/my-bert.yaml describes another model; give the new one another name with --name"
    )
    path.unlink()
    (own / "config.json").write_text("{}")
    assert "transformers can't load this model folder" in started(
        "table", "gu2020/table06", "--model", str(own)
    )
    (own / "config.json").unlink()
    assert "has no config.json" in started("table", "gu2020/table06", "--model", str(own))
    assert "expected hub:GROUP/MODEL@COMMIT" in started("table", "gu2020/table06", "--model", "hub:a/b@main")
    assert not path.exists()
    facts = started("table", "shin2020/table08", "--model", "pubmedbert-base")
    assert "shin2020/table08 is a table of facts, in which no model is run" in facts


def test_hyper_parameters_of_ones_own_replace_the_search(
    started: Said, checkout: Path, tmp_path: Path
) -> None:
    verb = ("table", "gu2020/table06", "--model", "pubmedbert-base")
    command = started(*verb, "--choice", "lr=3e-5,batch=32,epochs=20")
    own = "pubmedbert-base+lr=3e-05+batch=32+epochs=20"
    assert f"own_tables={own}" in command and f"tables/gu2020+{own}/gu2020-table06.html" in command
    settings = [word.removeprefix("choice=") for word in shlex.split(command) if word.startswith("choice=")]
    values = {"learning_rate": 3e-05, "batch_size": 32, "epochs": 20}
    assert [json.loads(setting)["values"] for setting in settings] == [values]
    shared = tmp_path / "theirs.yaml"
    shared.write_text("name: theirs\nsource: someone\nvalues: {epochs: 3}\n")
    assert '"source":"someone"' in started(*verb, "--choice", str(shared))
    searched = started(*verb, "--search", "own")
    assert "search=own" in searched and "own_tables=pubmedbert-base+own-search" in searched
    assert "choice=" not in searched and "search=" not in started(*verb)
    shown = started(*verb, "--scale", "demo")
    assert "results/demo/tables/demo+pubmedbert-base/gu2020-table06.html" in shown
    assert "--configfile" not in shown and "local_files" not in shown
    both = started(*verb, "--search", "own", "--choice", "epochs=3")
    assert both.endswith("--choice gives what --search own would search: leave one out")


def test_a_held_lock_is_reported_before_the_cost(started: Said) -> None:
    verb = ("table", "gu2020/table06", "--model", "pubmedbert-base", "--scale", "demo")
    held = lock_results("results/demo")
    assert "another process is at work here" in (said := started(*verb)) and "$" not in said
    held.release()
    assert started(*verb).startswith("-m snakemake")


def test_a_scale_of_ones_own_needs_a_study_that_has_it(started: Said, checkout: Path) -> None:
    (checkout / "specs/scales/mine.yaml").write_text("name: mine\n")
    (checkout / "mine.yaml").write_text("scale: mine\n")
    words = ("table", "gu2020/table06", "--model", "pubmedbert-base", "--scale", "mine")
    assert started(*words) == "error: no study of studies/ has the scale 'mine'; name one with --configfile"
    assert "results/mine/tables/demo+pubmedbert-base/" in started(*words, "--configfile", "mine.yaml")
