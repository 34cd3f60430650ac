"""`pubmill export --as`: folders that other programs read, and recipes of what is not public."""

from pathlib import Path

import pytest
import yaml

from pubmill.convert.dataset import convert
from pubmill.specs import Specs
from pubmill.stages.dataset_recipes import conversion_recipe
from tests.unit.programs import Ended, make_checkout, run_verb

SENTENCE = "pain\tB\nor\tO\nnone\tO\n\n"


@pytest.fixture
def checkout(root: Path, tmp_path: Path, full_specs: Specs) -> Path:
    """A checkout with all specs, in which bc2gm is converted from other files."""
    (tmp_path / "specs").symlink_to(root / "specs")
    (tmp_path / "studies").symlink_to(root / "studies")
    make_checkout(tmp_path)
    spec = full_specs.datasets["bc2gm"].model_copy(update={"expect": {}})
    inputs = {}
    for number, role in enumerate(("train", "dev", "test"), 1):
        inputs[role] = tmp_path / f"{role}.tsv"
        inputs[role].write_text(SENTENCE * number)
    convert(conversion_recipe("bc2gm", spec), inputs, tmp_path / "results/full/datasets/bc2gm")
    return tmp_path


def export(checkout: Path, *words: object) -> Ended:
    return run_verb("export", *words, checkout=checkout)


def test_parquet_is_read_by_datasets(checkout: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder = checkout / "out"
    ended = export(checkout, "bc2gm", "--to", folder, "--as", "parquet")
    names = ["train.parquet", "dev.parquet", "test.parquet", "README.md"]
    assert ended.stdout.split() == [str(folder / name) for name in names]
    read = datasets.load_dataset(str(folder), cache_dir=str(checkout / "cache"))
    assert {name: len(split) for name, split in read.items()} == {"train": 1, "validation": 2, "test": 3}
    assert read["test"][2]["id"] == "test-000003" and read["test"][2]["labels"] == ["B", "O", "O"]
    again = checkout / "again"
    export(checkout, "bc2gm", again, "--form", "parquet")
    assert all((again / name).read_bytes() == (folder / name).read_bytes() for name in names)


@pytest.mark.parametrize(
    ("name", "form"), [("mednli", "parquet"), ("bioasq-yesno", "parquet"), ("bioasq-yesno", "blurb")]
)
def test_of_a_dataset_that_is_not_public_only_a_recipe_is_written(
    checkout: Path, form: str, name: str
) -> None:
    folder = checkout / "out"
    ended = export(checkout, name, "--to", folder, "--as", form)
    assert ended.returncode == 1 and f"{name} is not public" in ended.stderr and "https://" in ended.stderr
    assert [path.name for path in folder.iterdir()] == ["recipe.yaml"]
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text())
    assert recipe["dataset"] == name and recipe["apply"] and recipe["expect"]["test"]["examples"] > 100
    assert "doctor data --local" in recipe["commands"][0] and "'" not in recipe["commands"][0]


@pytest.mark.parametrize(("words", "message"), [
    (["bc2gm", "--to", "out", "--as", "parkett"], "there is no form 'parkett'; the nearest: parquet"),
    (["bc2gm", "--as", "parquet"], "no folder to write is named: pubmill export bc2gm --to FOLDER"),
    (["bc2gm", "here", "--to", "there"], "are named, here and --to there: leave one out"),
    (["linnaeus", "--to", "out", "--as", "blurb"], "linnaeus is not in BLURB; export it in another form"),
    (["pubmedqa", "--to", "out", "--as", "parquet"], "is not there yet. Make it: "),
    (["bc2gn", "--to", "out", "--as", "parquet"], "no dataset 'bc2gn'; the nearest: bc2gm"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused(checkout: Path, words: list[str], message: str) -> None:
    (checkout / "results/full/datasets/linnaeus").mkdir()
    (checkout / "results/full/datasets/linnaeus/card.json").write_text("{}")
    ended = export(checkout, *words)
    assert ended.returncode == 1 and message in ended.stderr
    assert not (checkout / "out").exists()


def test_of_damaged_results_nothing_is_written(checkout: Path) -> None:
    made, folder = checkout / "results/full/datasets/bc2gm", checkout / "out"
    (made / "test.jsonl.gz").write_bytes((made / "test.jsonl.gz").read_bytes()[:-9])
    said = export(checkout, "bc2gm", "--to", folder, "--as", "parquet").stderr
    assert "test.jsonl.gz has changed since it was written" in said
    assert not folder.exists()


def test_blurb_s_form_is_that_of_its_spec(checkout: Path) -> None:
    ended = export(checkout, "bc2gm", "--to", checkout / "out", "--as", "blurb")
    assert (checkout / "out/train.tsv").read_text() == SENTENCE
    assert "(published bytes not known)" in ended.stdout
