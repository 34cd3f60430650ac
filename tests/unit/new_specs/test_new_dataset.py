"""Specs of new datasets: the form of their files, their counts, published form; errors."""

import json
import zipfile
from pathlib import Path

import pytest
import yaml

from pubmill.errors import PubmillError
from pubmill.new_specs.file_forms import split_of
from pubmill.new_specs.new_dataset import describe, masked, new_dataset, write_dataset
from pubmill.specs import DatasetSpec
from pubmill.storage.files import sha256
from tests.unit.new_specs.files import BRAT, CONLL, LINES, SQUAD, TABLE


def described(folder: Path, text: str, suffix: str, root: Path) -> tuple[DatasetSpec, dict[str, Path]]:
    """Write train and test with this text, and describe them; return the spec as read again, and files."""
    folder.mkdir()
    for split in ("train", "test"):
        (folder / f"{split}{suffix}").write_text(text)
    made = new_dataset([str(folder)], None, None, folder, access="public")
    write_dataset(made, describe(made), root)
    return read_spec(root, made.name), made.files


def read_spec(root: Path, name: str) -> DatasetSpec:
    return DatasetSpec.model_validate(yaml.safe_load((root / f"specs/datasets/{name}.yaml").read_text()))


def test_only_equal_bytes_are_published(tmp_path: Path) -> None:
    (same, _), (other, _) = (
        described(tmp_path / name, text, ".tsv", tmp_path)
        for name, text in (("same", CONLL), ("other", CONLL + "\n\n"))
    )
    assert same.published and same.published.files["train"].sha256
    assert other.published is None
    spec, _ = described(tmp_path / "mine", SQUAD.replace('"1.1"', '"2.0"'), ".json", tmp_path)
    assert spec.converter == "pubmill.convert.squad:read" and spec.published is None


@pytest.mark.parametrize(("label", "types"), [("B-Gene", ["Gene"]), ("B", [])])
def test_ones_own_files_allow_the_types_that_they_have(tmp_path: Path, label: str, types: list[str]) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/train.tsv").write_text(f"p53\t{label}\nbinds\tO\n\n")
    made = new_dataset([str(tmp_path / "mine")], None, None, tmp_path / "mine")
    write_dataset(made, describe(made), tmp_path)
    assert read_spec(tmp_path, "mine").options["types"] == types


def test_files_of_the_hub_and_network_are_named_with_commit_and_folder(tmp_path: Path) -> None:
    commit = "a" * 40
    page = tmp_path / "mirror/huggingface.co/api/datasets/group/Data.Set/revision/main"
    page.parent.mkdir(parents=True)
    names = ["README.md", "data/train.jsonl", "data/validation.jsonl", "data/train.parquet", "notes.txt"]
    page.write_text(json.dumps({"sha": commit, "siblings": [{"rfilename": name} for name in names]}))
    for name in names[1:3]:
        path = tmp_path / f"mirror/huggingface.co/datasets/group/Data.Set/resolve/{commit}/{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LINES)
    made = new_dataset(["hub:group/Data.Set"], None, str(tmp_path / "mirror"), tmp_path, access="public")
    write_dataset(made, describe(made), tmp_path)
    spec = read_spec(tmp_path, "data.set")
    assert spec.splits == ("train", "dev")
    assert f"/resolve/{commit}/data/validation.jsonl" in str(spec.sources["dev"])
    with pytest.raises(PubmillError, match=f"revision/{commit}"):
        new_dataset(
            [f"hub:group/Data.Set@{commit}"], None, str(tmp_path / "mirror"), tmp_path, access="public"
        )
    path = tmp_path / "mirror/example.org/group/My_Data/train.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(LINES)
    url = "https://example.org/group/My_Data/train.jsonl"
    made = new_dataset([url], None, str(tmp_path / "mirror"), tmp_path / "copies", access="public")
    assert (made.name, made.urls, made.folder) == ("my-data", {"train": url}, None)
    assert made.sources["train"] == {"url": url, "sha256": sha256(path)}
    named = new_dataset([url], "other", str(tmp_path / "mirror"), tmp_path / "copies", access="public")
    assert named.name == "other"


def test_a_spec_is_written_to_be_read(tmp_path: Path) -> None:
    """Its keys are in order and its letters are not escaped."""
    (tmp_path / "mine/test-notes").mkdir(parents=True)
    (tmp_path / "mine/train.jsonl").write_text(LINES.replace('"class": "a"', '"class": "β-actin"'))
    data = new_dataset([str(tmp_path / "mine")], "named", None, tmp_path, access="public")
    text = write_dataset(data, describe(data), tmp_path).read_text()
    keys = [line.partition(":")[0] for line in text.splitlines() if line[0].isalpha()]
    assert keys[:6] == ["name", "label", "kind", "task", "domain", "sources"]
    assert "β-actin" in text


@pytest.mark.parametrize(("names", "message"), [
    (["data.conll"], "data.conll: the file's name shows no split"),
    (["pretraining.conll"], "pretraining.conll: the file's name shows no split"),
    (["latest.conll"], "latest.conll: the file's name shows no split"), (["test.tsv"], "is named train"),
    (["train.tsv", "train2.tsv"], "is train too; give one file for each split"),
    (["absent.tsv"], "absent.tsv does not exist"),
])  # fmt: skip
def test_files_that_are_no_splits_are_reported(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        if name != "absent.tsv":
            (tmp_path / name).write_text(CONLL)
    with pytest.raises(PubmillError) as error:
        new_dataset([str(tmp_path / name) for name in names], None, None, tmp_path, access="public")
    assert message in str(error.value)


def test_several_folders_existing_specs_and_no_names_are_refused(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        (tmp_path / split).mkdir()
        (tmp_path / split / f"{split}.tsv").write_text(CONLL)
    with pytest.raises(PubmillError, match="the files are in 2 folders; put them into one"):
        new_dataset(
            [str(tmp_path / "train"), str(tmp_path / "dev/dev.tsv")], None, None, tmp_path, access="public"
        )
    described(tmp_path / "mine", CONLL, ".tsv", tmp_path)
    made = new_dataset([str(tmp_path / "mine")], None, None, tmp_path, access="public")
    with pytest.raises(PubmillError, match="mine.yaml exists; give the new dataset another name"):
        write_dataset(made, describe(made), tmp_path)
    (tmp_path / "__").mkdir()
    (tmp_path / "__/train.tsv").write_text(TABLE)
    with pytest.raises(PubmillError, match="'__' gives no name for the dataset; give one with --name"):
        new_dataset([str(tmp_path / "__")], None, None, tmp_path, access="public")
    assert new_dataset([str(tmp_path / "__")], "mine", None, tmp_path, access="public").name == "mine"
    assert masked("IL-2 (β-Actin) 3.5%") == "XX-0 (x-Xxxxx) 0.0%"


@pytest.mark.parametrize(("name", "split"), [
    ("retrieval-test.tsv", "test"), ("evaluation_dev.tsv", "dev"), ("Validation.jsonl", "dev"),
    ("testset.json", "test"), ("mydev1.tsv", "dev"), ("train.test.tsv", "train"), ("x_val.tsv", "dev"),
    ("notes.tsv", None),
])  # fmt: skip
def test_a_split_is_a_word_of_the_name_or_else_within_one(name: str, split: str | None) -> None:
    assert split_of(name) == split


NO_LIST = "the hub's answer is not a list of a dataset's files"
OTHERS = ["README.md", "notes.jsonl", "train.txt.md"]


@pytest.mark.parametrize(("answer", "message"), [
    *((answer, NO_LIST) for answer in ("{", "[" * 100_000, '{"sha": "a", "siblings": 5}', "{}")),
    *((json.dumps({"sha": "a" * 40, "siblings": [{"rfilename": name} for name in names]}),
       f"hub:group/mine has no train, dev or test file of a form that is read: {names}")
      for names in ([], OTHERS)),
])  # fmt: skip
def test_other_answers_of_the_hub_are_refused(tmp_path: Path, answer: str, message: str) -> None:
    page = tmp_path / "mirror/huggingface.co/api/datasets/group/mine/revision/main"
    page.parent.mkdir(parents=True)
    page.write_text(answer)
    with pytest.raises(PubmillError) as error:
        new_dataset(["hub:group/mine"], None, str(tmp_path / "mirror"), tmp_path, access="public")
    assert message in str(error.value)


def test_a_folder_of_many_files_is_packed_into_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name, text in BRAT.items():
        path = tmp_path / "given/train" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    first, again = (
        new_dataset([str(tmp_path / "given")], "mine", None, tmp_path, tmp_path / name).files["train"]
        for name in ("data", "again")
    )
    assert first == tmp_path / "data/mine/train.zip" and first.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
