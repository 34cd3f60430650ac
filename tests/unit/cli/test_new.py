"""`pubmill new dataset` and `pubmill new table`, typed in a checkout."""

from pathlib import Path

import yaml

from pubmill.cli.studies import configuration
from pubmill.specs import load
from tests.unit.cli.conftest import Said


def test_a_dataset_and_a_table_of_it_are_two_commands(started: Said, checkout: Path, tmp_path: Path) -> None:
    own = tmp_path / "own/Mouse NER"
    own.mkdir(parents=True)
    for split in ("train", "devel", "test"):
        (own / f"{split}.tsv").write_text("Mice\tB-Species\nran\tO\n\nThey\tO\nslept\tO\n\n")
    said = started("new", "dataset", str(own))
    assert said.startswith("specs/datasets/mouse-ner.yaml\n")
    assert "train: sentences 2, tokens 4, mentions 1" in said and '"Xxxx", "xxx"' in said
    assert (
        f"In workspace.yaml: local_files: {{mouse-ner: {own}}}" in said
        and "writes the bytes of these files" in said
    )
    assert "access: local (yours, not public" in said and "warning: dev and train are of files with" in said
    assert said.splitlines()[-1].endswith(
        "pubmill new table mine/table01 --dataset mouse-ner --model pubmedbert-base"
    )
    assert configuration([], None)["local_files"] == {"mouse-ner": str(own)}
    spec = yaml.safe_load((checkout / "specs/datasets/mouse-ner.yaml").read_text())
    assert spec["sources"]["dev"]["file"] == "devel.tsv"
    words = ("--dataset", "mouse-ner", "--model", "pubmedbert-base")
    said = started("new", "table", "mine/table01", *words)
    assert said.startswith("specs/tables/mine/table01.yaml\nspecs/tables/mine/table01.published.csv\n")
    assert load(checkout / "specs", "full").tables["mine/table01"].rows[0].dataset == "mouse-ner"
    assert "exists; give the new table another name" in started("new", "table", "mine/table01", *words)


def test_without_a_kind_the_kinds_are_listed(started: Said) -> None:
    said = started("new")
    assert all(f"\n  {kind} " in said for kind in ("model", "dataset", "table"))
