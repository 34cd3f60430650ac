"""Models in the user's own folders."""

import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs.study import check_study
from pubmill.stages import checked_graph


def test_a_model_depends_on_the_content_of_its_own_folder(root: Path, tmp_path: Path) -> None:
    specs_folder, weights = tmp_path / "specs", tmp_path / "weights"
    shutil.copytree(root / "specs", specs_folder)
    weights.mkdir()
    files = [weights / name for name in ("config.json", "model.safetensors", "vocab.txt")]
    for path in files:
        path.touch()
    (specs_folder / "models/mine.yaml").write_text(
        "name: mine\nlowercase: true\nweights: {kind: folder, local: mine}\ntables: [gu2020/table06]\n"
    )
    config = {
        "study": "x", "title": "x", "scale": "full", "tables": ["gu2020/table06"],
        "local_files": {"mine": str(weights)},
    }  # fmt: skip
    made = checked_graph(*check_study(config, specs_folder))
    assert "mine" in made.models.own() and made.models.own_folder("mine") == weights
    assert made.models.own_folder_content("mine") == {path.name: sha256(b"").hexdigest() for path in files}
    assert [column.model for column in made.tables.recipe("gu2020/table06").columns][-1] == "mine"
    made = checked_graph(*check_study(config | {"local_files": {}}, specs_folder))
    reported = "needs its weights in a folder of your own (then set local_files: mine)"
    assert (
        made.tables.recipe("gu2020/table06").missing["mine"] == reported and "mine" not in made.scope.models()
    )
    assert made.left_out()[-1] == f"left out of the tables: mine ({reported})"
    made = checked_graph(*check_study(config | {"models": ["pubmedbert-base"]}, specs_folder))
    assert made.left_out()[-2] == (
        "left out of the tables: mine (its spec names gu2020/table06, which the study runs; "
        "add it to the study's `models:`)"
    )
    with pytest.raises(PubmillError, match=r"model mine: /nowhere \(local_files\.mine\) does not exist"):
        checked_graph(*check_study(config | {"local_files": {"mine": "/nowhere"}}, specs_folder))
    elsewhere = config | {"local_files": {"mine": "/nowhere"}, "models": ["pubmedbert-base"]}
    with pytest.raises(PubmillError, match="does not exist; correct the path, or the folder"):
        checked_graph(*check_study(elsewhere, specs_folder)).models.own_folder("mine")
    for path in files:
        kept = path.rename(tmp_path / "kept")
        lack = path.name if path.suffix == ".json" else "weights" if path.suffix != ".txt" else "tokenizer"
        with pytest.raises(PubmillError, match=rf"\(local_files\.mine\) has no {lack}.*; its files: "):
            checked_graph(*check_study(config, specs_folder))
        kept.rename(path)
    checked_graph(*check_study(config, specs_folder))
