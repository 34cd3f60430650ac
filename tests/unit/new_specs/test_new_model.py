"""Specs of new models: what a folder or a repository of the hub is called, and what its tokenizer knows."""

import re
import shutil
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import yaml
from huggingface_hub.errors import LocalEntryNotFoundError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

from pubmill.errors import PubmillError
from pubmill.inspection.doctor import Links
from pubmill.new_specs.new_model import NewModel, new_model, reads_lowercase, write_spec
from pubmill.pretraining.export import export
from pubmill.recipes.models import ExportRecipe, LocalWeights
from pubmill.recipes.submissions import System
from tests.unit.tiny_encoders import tiny_bert

COMMIT = "ab" * 20
BERTS = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder whose vocabulary has no capitals, apart from special pieces."""
    return tiny_bert(tmp_path_factory.mktemp("models") / "My_Model v1.2", ["ba", "ka"])


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    (tmp_path / "specs/models").mkdir(parents=True)
    return tmp_path / "specs"


def test_a_folder_gives_its_name_and_is_the_users_own(folder: Path) -> None:
    made = new_model(str(folder))
    assert (made.name, made.folder) == ("my-model-v1.2", folder)
    assert made.weights == {"weights": {"kind": "folder", "local": "my-model-v1.2"}}
    assert made.local_files == {"my-model-v1.2": str(folder)}
    assert new_model(str(folder), "other").name == "other"


def test_a_folder_of_predictions_needs_its_authors_statement(tmp_path: Path, specs: Path) -> None:
    files = tmp_path / "Some LLM"
    (files / "seed-2").mkdir(parents=True)
    (files / "seed-2/chemprot@blurb.jsonl").write_text("{}")
    with pytest.raises(PubmillError, match=r"holds predictions, of chemprot@blurb; .* --system '\{\"name"):
        new_model(str(files), datasets=["chemprot@blurb"])
    system = System(name="group/llm", version="1", prompt="Which?", local=True)
    made = new_model(str(files), system=system, datasets=["chemprot@blurb"])
    written = yaml.safe_load(write_spec(made, specs).read_text())
    stated = {"name": "group/llm", "version": "1", "prompt": "Which?", "local": True}
    weights = {"kind": "predictions", "local": "some-llm", "system": stated}
    assert written == {"name": "some-llm", "label": "some-llm", "lowercase": False, "weights": weights}
    assert made.local_files == {"some-llm": str(files)}
    with pytest.raises(PubmillError, match="has no config.json"):
        new_model(str(files), datasets=["bc2gm"])


@pytest.mark.parametrize(
    ("given", "revision"), [(f"hub:group/Big.Model@{COMMIT}", COMMIT), ("hub:group/Big.Model", None)]
)
def test_a_repository_of_the_hub_gives_its_id_and_commit(given: str, revision: str | None) -> None:
    made = new_model(given)
    assert (made.name, made.folder) == ("big.model", None)
    assert made.weights == {"released": {"id": "group/Big.Model", "revision": revision}}
    assert made.local_files == {}
    assert new_model(given, "other").name == "other"
    for wrong in ("hub:group/model@main", "hub:", "hub:group/model@" + "a" * 39):
        with pytest.raises(PubmillError, match="expected hub:GROUP/MODEL@COMMIT, with a commit of 40 digits"):
            new_model(wrong)


def test_wrong_names_are_refused(folder: Path, tmp_path: Path, specs: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PubmillError, match="model folder .*empty "):
        new_model(str(tmp_path / "empty"))
    shutil.copytree(folder, tmp_path / "___")
    with pytest.raises(PubmillError, match="'___' gives no name for the model; give one with --name"):
        new_model(str(tmp_path / "___"))
    assert new_model(str(tmp_path / "___"), "mine").name == "mine"
    with pytest.raises(PubmillError, match="^model Not A Name: "):
        write_spec(NewModel("Not A Name", folder), specs)
    assert not list((specs / "models").iterdir())


def test_a_spec_names_the_weights_and_whether_the_vocabulary_has_capitals(
    folder: Path, specs: Path, tmp_path: Path
) -> None:
    path = write_spec(new_model(str(folder)), specs)
    assert yaml.safe_load(path.read_text()) == {
        "name": "my-model-v1.2", "label": "my-model-v1.2", "lowercase": True,
        "weights": {"kind": "folder", "local": "my-model-v1.2"},
    }  # fmt: skip
    assert path == specs / "models/my-model-v1.2.yaml"
    assert list(yaml.safe_load(path.read_text())) == ["name", "label", "lowercase", "weights"]
    assert path.read_text().startswith("# yaml-language-server: $schema=../../schemas/models.json\n")
    cased = Path(shutil.copytree(folder, tmp_path / "cased"))
    for name in ("vocab.txt", "tokenizer.json"):
        if (cased / name).is_file():
            text = (cased / name).read_text()
            (cased / name).write_text(re.sub(r'(^|")ka("|$)', r"\1Ka\2", text, flags=re.M))
    assert not reads_lowercase(NewModel("m", cased))
    assert reads_lowercase(NewModel("m", folder))


def test_a_spec_of_the_same_weights_stays_and_of_others_is_refused(folder: Path, specs: Path) -> None:
    made = new_model(str(folder))
    path = specs / f"models/{made.name}.yaml"
    kept = f"name: {made.name}\nweights: {{kind: folder, local: {made.name}}}\nlowercase: false\n"
    path.write_text(kept)
    assert write_spec(made, specs) == path and path.read_text() == kept
    for other in (
        kept + f"released: {{id: a/b, revision: {COMMIT}}}\n", kept.replace("local: my", "local: your"),
        kept + "name: twice\n",
    ):  # fmt: skip
        path.write_text(other)
        with pytest.raises(PubmillError, match="describes another model; give the new one another name with"):
            write_spec(made, specs)
        assert path.read_text() == other


def test_only_the_tokenizer_is_fetched_from_the_hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def fetch(model: str, *, revision: str | None, allow_patterns: list[str], local_files_only: bool) -> str:
        asked.extend([model, revision])
        assert local_files_only, "without network, only the cache is read"
        assert "vocab.txt" in allow_patterns and not any("safetensors" in name for name in allow_patterns)
        return str(folder)

    monkeypatch.setattr("pubmill.inspection.doctor.check_links", lambda _: Links(False, {}))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert reads_lowercase(new_model(f"hub:group/model@{COMMIT}"))
    assert asked == ["group/model", COMMIT]

    def fail(*_: object, **__: object) -> str:
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(PubmillError, match=r"from the hub: the hub cannot be reached.*such as \./model"):
        reads_lowercase(new_model("hub:group/model"))


def tokens(folder: Path, **special: str) -> None:
    """Write a fast tokenizer with these special tokens."""
    pieces = {piece: at for at, piece in enumerate(("[UNK]", *special.values(), "ba", "ka"))}
    made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(pieces, "[UNK]")), **special)
    made.save_pretrained(folder)


def small(family: str, **more: Any) -> Any:
    """A small model of a family, with random weights."""
    config = AutoConfig.for_model(family)
    sizes = {
        "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16,
        "vocab_size": 9, "num_key_value_heads": 2, "head_dim": 4, "pad_token_id": 0,
        "max_position_embeddings": 16,
    }  # fmt: skip
    own = {
        "encoder_attention_heads": 2, "decoder_attention_heads": 2, "n_embd": 8, "n_layer": 2, "n_head": 2,
        "n_positions": 16, "d_model": 8, "d_kv": 4, "d_ff": 16,
    }  # fmt: skip
    wanted = {**sizes, **own, "num_layers": 2, "num_heads": 2, **more}
    known = {key: value for key, value in wanted.items() if hasattr(config, key)}
    return AutoModel.from_config(AutoConfig.for_model(family, **known))


@pytest.mark.parametrize("family", ["nomic_bert", "jina_embeddings_v3", "modernbert", "eurobert", "llama"])
def test_encoders_with_renamed_tensors_are_described(tmp_path: Path, specs: Path, family: str) -> None:
    folder = tmp_path / "m"
    small(family).save_pretrained(folder)
    tokens(folder, **BERTS)
    assert write_spec(new_model(str(folder)), specs).is_file()
    weights = load_file(folder / "model.safetensors")
    del weights[max(name for name in weights if "mlp" in name)]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(PubmillError, match="[0-9]+ tensors of the encoder are not as config.json describes"):
        write_spec(new_model(str(folder), "other"), specs)


@pytest.mark.parametrize(("family", "special", "message"), [
    ("pegasus", BERTS, "(pegasus) describes an encoder with a decoder, and transformers has no class"),
    ("eurobert", {"pad_token": "<pad>", "bos_token": "<s>"},
     "the tokenizer has no sep_token or eos_token (the end); name them in "),
    ("bert", {"cls_token": "[CLS]", "sep_token": "[SEP]"},
     "the tokenizer has no pad_token or eos_token (padding); "),
])  # fmt: skip
def test_what_cannot_be_trained_is_refused(
    tmp_path: Path, specs: Path, family: str, special: dict[str, str], message: str
) -> None:
    folder = tmp_path / "m"
    small(family).save_pretrained(folder)
    tokens(folder, **special)
    with pytest.raises(PubmillError, match=re.escape(message)):
        write_spec(new_model(str(folder)), specs)
    recipe = ExportRecipe(model="m", lowercase=True, weights=LocalWeights(local="m"))
    with pytest.raises(PubmillError, match=re.escape(message)):
        export(recipe, tmp_path / "made", folder=folder)
    assert not (tmp_path / "made").exists() and not list((specs / "models").iterdir())


@pytest.mark.parametrize(("damage", "message"), [
    (lambda weights: weights.fill_(float("nan")), "'encoder.layer.0."),
    (None, "the tokenizer has 6 pieces, the model 5 embeddings; was it trained with another vocabulary?"),
])  # fmt: skip
def test_untrainable_weights_are_refused(tmp_path: Path, specs: Path, damage: Any, message: str) -> None:
    folder = tmp_path / "m"
    small("bert", vocab_size=9 if damage else 5).save_pretrained(folder)
    tokens(folder, **BERTS)
    if damage:
        weights = load_file(folder / "model.safetensors")
        damage(weights["encoder.layer.0.output.dense.weight"])
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(PubmillError, match=re.escape(message)):
        write_spec(new_model(str(folder)), specs)
    assert not list((specs / "models").iterdir())
