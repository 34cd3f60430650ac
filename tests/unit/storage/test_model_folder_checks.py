"""Model folders made elsewhere: hostile and damaged ones are refused before memory is taken."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.pretraining.export import export
from pubmill.recipes.models import ExportRecipe, LocalWeights
from pubmill.storage.encoder_checks import check_tokenizer, makes_lowercase, reported
from pubmill.storage.model_folder_checks import check_folder_in_place, check_weights
from tests.unit.finetuning.encoder_families import FAMILIES, save_encoder

RECIPE = ExportRecipe(model="m", lowercase=True, weights=LocalWeights(local="mine"))
LAYER = "encoder.layer.2.output.dense.bias"
BIAS = "encoder.layer.1.output.dense.bias"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("models") / "bert", "bert")


@pytest.fixture
def theirs(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "theirs"))


def set_in(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def exported(theirs: Path) -> Path:
    output = theirs.parent / "m"
    export(RECIPE, output, folder=theirs)
    return output


def refused(theirs: Path) -> str:
    with pytest.raises(PubmillError) as caught:
        exported(theirs)
    assert not (theirs.parent / "m").exists()
    return str(caught.value)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_the_shapes_of_its_configuration(tmp_path: Path, family: str) -> None:
    folder = save_encoder(tmp_path / "m", family)
    check_weights(folder, "m")
    first = next(key for key in load_file(folder / "model.safetensors") if "embeddings" in key)
    change(folder, lambda tensors: tensors.pop(first))
    with pytest.raises(PubmillError, match=f"1 tensors of the encoder are not as .*: {first} is in no file"):
        check_weights(folder, "m")


@pytest.mark.parametrize(("further", "fault"), [
    ({"encoder.layer.3.output.dense.bias": 32}, "dense.bias is in the files and would not be used"),
    ({"bert.embeddings.more.weight": 3}, "more.weight is in the files and would not be used"),
    ({f"bert.{LAYER}": 32}, f"{LAYER} is also there as bert.{LAYER}"),
    ({"cls.predictions.bias": 5, "bert.embeddings.position_ids": 3, "classifier.weight": 2}, None),
    ({"embeddings.token_type_ids": 3, "encoder.masked_bias": 1}, None),
    ({"bert.pooler.dense.bias": 32, "pooler.other": 4}, None),
])  # fmt: skip
def test_each_weight_is_used_once(theirs: Path, further: dict[str, int], fault: str | None) -> None:
    change(theirs, lambda tensors: tensors.update({key: torch.zeros(size) for key, size in further.items()}))
    if fault is None:
        exported(theirs)
    else:
        assert fault in refused(theirs)


@pytest.mark.parametrize("place", ["piece", "around texts"])
def test_a_token_beyond_the_embeddings_is_refused_when_the_folder_is_read(theirs: Path, place: str) -> None:
    set_in(theirs / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    path = theirs / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    if place == "piece":
        tokenizer["model"]["vocab"]["##long"] = 500
    else:
        tokenizer["post_processor"]["special_tokens"]["[SEP]"]["ids"] = [500]
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    assert "the id 500, but the model has 25 embeddings, of ids 0 to 24; take the tokenizer" in refused(
        theirs
    )


def test_names_of_tensorflows_time_are_known(theirs: Path) -> None:
    path = theirs / "model.safetensors"
    old = {
        key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for key, value in load_file(path).items()
        if "pooler" not in key
    }
    save_file(old, path, {"format": "pt"})
    AutoModel.from_pretrained(exported(theirs))


def test_settings_that_lead_elsewhere_are_left_out(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_in(
        theirs / "config.json", _attn_implementation="strangers/kernel", _attn_implementation_autoset=True,
        transformers_weights="other.safetensors",
        text_config={"_attn_implementation": "strangers/kernel", "hidden_size": 8},
    )  # fmt: skip
    set_in(theirs / "tokenizer_config.json", tokenizer_file="/etc/passwd", vocab_file="/etc/passwd")
    (theirs / "tokenizer.json").unlink()
    config = (exported(theirs) / "config.json").read_text()
    assert "kernel" not in config and "transformers_weights" not in config and '"text_config"' in config
    assert "passwd" not in (theirs.parent / "m/tokenizer_config.json").read_text()
    said = capsys.readouterr().err
    assert "m: settings left out: _attn_implementation, _attn_implementation_autoset, tokenizer_file" in said
    encoder = AutoModel.from_pretrained(theirs.parent / "m")
    assert encoder.config._attn_implementation in ("sdpa", "eager")


@pytest.mark.parametrize(("file", "values", "expected"), [
    ("config.json", {"auto_map": {"AutoModel": "x.Y"}}, "config.json: auto_map asks for code of its own"),
    ("config.json", {"encoder": [{"auto_map": {"A": "x.Y"}}]}, "config.json: auto_map asks for code"),
    ("tokenizer_config.json", {"auto_map": {"A": ["x.Y"]}}, "tokenizer_config.json: auto_map asks for"),
    ("config.json", {"quantization_config": {"quant_method": "gptq"}}, "describes quantised weights"),
    ("config.json", {"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000; expected a number"),
    ("config.json", {"hidden_size": 10**12}, "hidden_size is 1000000000000; expected a number"),
    ("config.json", {"layer_norm_eps": float("nan")}, "layer_norm_eps is nan; expected a number"),
    ("config.json", {"hidden_size": 64}, "has the shape"),
    ("config.json", {"vocab_size": 9}, "25 pieces, the model 9 embeddings"),
    ("config.json", {"num_hidden_layers": 4}, "16 tensors of the encoder are not as config.json"),
    ("config.json", {"hidden_size": "many"}, "transformers can't load this model folder"),
    ("config.json", {"hidden_size": -32}, "transformers can't load this model folder"),
    ("config.json", {"model_type": "strange"}, "transformers can't load this model folder"),
    ("tokenizer_config.json", {"tokenizer_class": ["x"]}, "transformers can't load this"),
])  # fmt: skip
def test_refused_settings(theirs: Path, file: str, values: dict[str, Any], expected: str) -> None:
    set_in(theirs / file, **values)
    text = refused(theirs)
    assert text.startswith("m: ") and expected in text and len(text) < 500


def change(theirs: Path, act: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(theirs / "model.safetensors")
    act(tensors)
    save_file(tensors, theirs / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(theirs: Path, value: float) -> None:
    change(theirs, lambda tensors: tensors[BIAS][3:4].fill_(value))
    assert f"'{BIAS}' holds NaN or infinity" in refused(theirs)


def test_missing_misshapen_and_absent_weights_are_refused(theirs: Path) -> None:
    change(theirs, lambda tensors: tensors.update({BIAS: torch.zeros(1, 32)}))
    assert f"{BIAS} has the shape [1, 32], not [32]" in refused(theirs)
    change(theirs, lambda tensors: tensors.pop(BIAS))
    assert f"{BIAS} is in no file" in refused(theirs)
    (theirs / "model.safetensors").rename(theirs / "part.safetensors")
    (theirs / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {BIAS: "gone.safetensors"}})
    )
    assert "transformers can't load this model folder" in refused(theirs)


def test_weights_in_parts_are_read_by_their_index(theirs: Path) -> None:
    tensors = load_file(theirs / "model.safetensors")
    (theirs / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"part-1.safetensors": names[:9], "part-2.safetensors": names[9:]}
    for file, keys in parts.items():
        save_file({key: tensors[key] for key in keys}, theirs / file, {"format": "pt"})
    where = {key: file for file, keys in parts.items() for key in keys}
    (theirs / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    loaded = AutoModel.from_pretrained(exported(theirs)).state_dict()
    assert all(torch.equal(loaded[key], value) for key, value in tensors.items())


def test_adapters_and_links_are_refused_but_for_those_of_the_hubs_cache(theirs: Path) -> None:
    (theirs / "adapter_config.json").write_text('{"base_model_name_or_path": "strangers/model"}')
    assert "makes this an adapter of another model" in refused(theirs)
    (theirs / "adapter_config.json").unlink()
    secret = theirs.parent / "secret.txt"
    (theirs / "vocab.txt").rename(secret)
    (theirs / "vocab.txt").symlink_to(secret)
    assert "vocab.txt is a link out of its folder" in refused(theirs)
    snapshot, blobs = theirs.parent / "snapshots" / ("0" * 40), theirs.parent / "blobs"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    for path in theirs.iterdir():
        shutil.copyfile(path, blobs / path.name)
        (snapshot / path.name).symlink_to(blobs / path.name)
    export(RECIPE, theirs.parent / "m", folder=snapshot)


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_a_folder_that_is_loaded_in_place_selects_no_program(theirs: Path, file: str) -> None:
    check_folder_in_place(theirs)
    before = (theirs / file).read_bytes()
    set_in(theirs / file, attn_implementation=None)
    check_folder_in_place(theirs)
    set_in(theirs / file, attn_implementation="strangers/kernel")
    with pytest.raises(PubmillError, match=f"^{theirs}: attn_implementation selects a program"):
        check_folder_in_place(theirs)
    (theirs / file).write_bytes(before)
    (theirs / "vocab.txt").unlink(missing_ok=True)
    (theirs / "vocab.txt").symlink_to("/etc/passwd")
    with pytest.raises(PubmillError, match="is a link out of its folder"):
        check_folder_in_place(theirs)


def test_a_request_to_stop_and_a_card_in_another_encoding_are_no_faults(theirs: Path) -> None:
    with pytest.raises(StopRequestedError), reported("m: transformers can't load this"):
        raise StopRequestedError
    (theirs / "README.md").write_bytes(b"---\nlicense: mit\n---\nna\xefve\n")
    exported(theirs)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_of_any_protocol_is_only_ever_tensors(theirs: Path, protocol: int) -> None:
    (theirs / "model.safetensors").unlink()
    (theirs / "pytorch_model.bin").write_bytes(pickle.dumps({"a": shutil.rmtree, "b": [1]}, protocol))
    assert "pytorch_model.bin is damaged or holds more than tensors" in refused(theirs)


def tokenizer(is_fast: bool = True, **tokens: str | None) -> Any:
    known = {"sep_token": "[SEP]", "eos_token": None, "pad_token": "[PAD]", "cls_token": "[CLS]"}
    return SimpleNamespace(is_fast=is_fast, **(known | tokens))


def test_slow_and_lowercase_tokenizers_are_known() -> None:
    check_tokenizer(tokenizer(), "m")
    with pytest.raises(PubmillError, match="m: fine-tuning needs a fast tokenizer, .* is SimpleNamespac"):
        check_tokenizer(tokenizer(is_fast=False, pad_token=None), "m")

    def of(normalizer: Any) -> Any:
        return SimpleNamespace(backend_tokenizer=SimpleNamespace(normalizer=normalizer))

    assert makes_lowercase(of(SimpleNamespace(normalize_str=str.lower)))
    assert not makes_lowercase(of(SimpleNamespace(normalize_str=str.strip)))
    assert not makes_lowercase(of(None))


@pytest.mark.parametrize(("tokens", "missing"), [
    ({"sep_token": None}, "sep_token or eos_token .the end."),
    ({"pad_token": None}, "pad_token or eos_token .padding."),
    ({"sep_token": None, "pad_token": None}, "sep_token or .*, pad_token or eos_token .padding."),
    ({"sep_token": None, "pad_token": None, "eos_token": "</s>"}, None),
])  # fmt: skip
def test_the_end_and_padding_have_a_token(tokens: dict[str, Any], missing: str | None) -> None:
    if missing is None:
        check_tokenizer(tokenizer(**tokens), "m")
    else:
        with pytest.raises(PubmillError, match=f"m: the tokenizer has no {missing}; name them in token"):
            check_tokenizer(tokenizer(**tokens), "m")
