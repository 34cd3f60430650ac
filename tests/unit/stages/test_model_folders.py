"""Models in the user's own folders."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import ModelSpec, Specs
from pubmill.specs.study import Study
from pubmill.stages import Graph, checked_graph


def test_a_model_depends_on_the_content_of_its_own_folder(full_specs: Specs, tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    weights.mkdir()
    files = [weights / name for name in ("config.json", "model.safetensors", "vocab.txt")]
    for path in files:
        path.touch()
    mine = {"name": "mine", "lowercase": True, "tables": ["gu2020/table06"]}
    spec = ModelSpec.model_validate(mine | {"weights": {"kind": "folder", "local": "mine"}})
    specs = full_specs.model_copy(update={"models": {**full_specs.models, "mine": spec}})

    def graph(folder: str | None = str(weights), **study: Any) -> Graph:
        local = {} if folder is None else {"mine": folder}
        config = {"study": "x", "title": "x", "scale": "full", "tables": ["gu2020/table06"]}
        return checked_graph(Study.model_validate(config | {"local_files": local} | study), specs)

    made = graph()
    assert "mine" in made.models.own() and made.models.own_folder("mine") == weights
    assert made.digests.of_folder(made.models.own_folder("mine")) == {
        path.name: sha256(b"").hexdigest() for path in files
    }
    assert [column.model for column in made.tables.recipe("gu2020/table06").columns][-1] == "mine"
    made = graph(None)
    reported = "needs its weights in a folder of your own (then set local_files: mine)"
    missing = made.tables.recipe("gu2020/table06").missing
    assert missing["mine"] == reported and "mine" not in made.scope.models()
    assert made.left_out()[-1] == f"left out of the tables: mine ({reported})"
    with pytest.raises(PubmillError, match="model mine needs files of your own: set local_files"):
        made.models.own_folder("mine")
    assert graph(models=["pubmedbert-base"]).left_out()[-2] == (
        "left out of the tables: mine (its spec names gu2020/table06, which the study runs; "
        "add it to the study's `models:`)"
    )
    with pytest.raises(PubmillError, match=r"model mine: /nowhere \(local_files\.mine\) does not exist"):
        graph("/nowhere")
    with pytest.raises(PubmillError, match="does not exist; correct the path, or the folder"):
        graph("/nowhere", models=["pubmedbert-base"]).models.own_folder("mine")
    for path in files:
        kept = path.rename(tmp_path / "kept")
        lack = path.name if path.suffix == ".json" else "weights" if path.suffix != ".txt" else "tokenizer"
        with pytest.raises(PubmillError, match=rf"\(local_files\.mine\) has no {lack}.*; its files: "):
            graph()
        kept.rename(path)
    graph()
