"""Checks of model folders made elsewhere, from their headers, before anything is run or allocated.

transformers reads settings, weights and a tokenizer from such a folder. Settings that lead to code, other
files or other models are removed or refused; names and shapes of the weights must match config.json; every
number must be finite.
"""

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from pubmill.errors import PubmillError
from pubmill.storage.encoder_checks import empty_encoder, encoder_class, load_config, reported
from pubmill.storage.model_folders import CONFIG, WEIGHTS

INDEX = f"{WEIGHTS}.index.json"
SETTINGS = (CONFIG, "tokenizer_config.json")
LARGEST_NUMBER = 100_000_000
MOST_LAYERS = 1_000
"""Maximum number of layers and groups of layers, each of which is an object even without weights."""
DTYPES = {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"}

_REFUSED = {
    "auto_map": "asks for code of its own, which is never run here",
    "quantization_config": "describes quantised weights, which are not trained here; take the original",
    "compression_config": "describes compressed weights, which are not trained here; take the original",
}
_TAKEN_OUT = re.compile(r"_?(attn|experts)_implementation\w*|transformers_weights|trust_remote_code|\w+_file")
"""Settings that choose the attention implementation (possibly a downloaded program) or another file."""
_LAYERS = re.compile(r"layers?$|^n_layer|groups?$|group_num")
_CONSTANTS = ("position_ids", "token_type_ids", "masked_bias", "inv_freq")
"""Last parts of the names of tensors that older files hold and that nobody learnt."""
_ADAPTER = "adapter_config.json"

Shapes = dict[str, tuple[int, ...]]


def check_links(folder: Path, name: str) -> None:
    """Refuse links that leave the folder, except those of the hub's cache to its own blobs."""
    real = Path(os.path.realpath(folder))
    blobs = real.parent.parent / "blobs" if real.parent.name == "snapshots" else real
    for path in sorted(folder.iterdir()):
        target = Path(os.path.realpath(path))  # Like `resolve`, without an error for circular links.
        if path.is_symlink() and not any(place in target.parents for place in (real, blobs)):
            raise PubmillError(f"{name}: {path} is a link out of its folder; put the file itself there")


def take_settings(folder: Path, name: str) -> list[str]:
    """Remove the settings that the user's run decides from a folder's config.json and tokenizer_config.json.
    Returns their names. Raises a `PubmillError` for refused settings and unreasonably large numbers."""
    taken: list[str] = []
    for path, kept in _remaining_settings(folder, name, taken):
        path.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    return taken


def check_folder_in_place(folder: Path) -> None:
    """Check links, settings and weights of a folder that is loaded where it is. Settings that `take_settings`
    would remove are refused. Weights must match config.json."""
    name = str(folder)
    check_links(folder, name)
    taken: list[str] = []
    list(_remaining_settings(folder, name, taken))
    if taken:
        raise PubmillError(
            f"{name}: {taken[0]} selects a program or another file; remove it from its settings"
        )
    check_shapes(folder, read_shapes(weight_files(folder, name), name), name)


def _remaining_settings(folder: Path, name: str, taken: list[str]) -> Iterator[tuple[Path, Any]]:
    """Yield each settings file that changes, with what remains of it; append removed names to `taken`."""
    if (folder / _ADAPTER).exists():
        raise PubmillError(f"{name}: {_ADAPTER} makes this an adapter of another model; merge the two first")
    for path in (folder / file for file in SETTINGS):
        if path.is_file():
            whole = _read_settings(path, name)
            kept = _remove_settings(whole, f"{name}: {path.name}", taken, numbers=path.name == "config.json")
            if kept != whole:
                yield path, kept


def _read_settings(path: Path, name: str) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise PubmillError(f"{name}: {path.name} is not valid JSON: {error}") from None
    if not isinstance(settings, dict):
        raise PubmillError(f"{name}: {path.name} must hold an object, found {type(settings).__name__}")
    return settings


def _remove_settings(settings: Any, where: str, taken: list[str], numbers: bool) -> Any:
    """Return the settings without the removed ones, at any depth."""
    if isinstance(settings, list):
        return [_remove_settings(item, where, taken, numbers) for item in settings]
    if not isinstance(settings, dict):
        return settings
    kept = {}
    for key, value in settings.items():
        if key in _REFUSED and value not in (None, {}):
            raise PubmillError(f"{where}: {key} {_REFUSED[key]}")
        if numbers:
            _check_number(key, value, where)
        if _TAKEN_OUT.fullmatch(key):
            taken += [key] if value is not None else []
        else:
            kept[key] = _remove_settings(value, where, taken, numbers)
    return kept


def _check_number(key: str, value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    most = MOST_LAYERS if _LAYERS.search(key) else LARGEST_NUMBER
    if (isinstance(value, float) and not math.isfinite(value)) or abs(value) > most:
        raise PubmillError(f"{where}: {key} is {value!r:.40}; expected a number of at most {most:,}")


def weight_files(folder: Path, name: str) -> list[Path]:
    """Return the safetensors files that transformers reads, all in the folder itself."""
    index = folder / INDEX
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if not index.is_file():
        return []
    files = _read_settings(index, name).get("weight_map")
    if not isinstance(files, dict) or not files or not all(isinstance(f, str) for f in files.values()):
        raise PubmillError(f"{name}: {INDEX} has no `weight_map` from tensors to files")
    for tensor, file in files.items():
        if not (re.fullmatch(r"[\w-][\w.-]*\.safetensors", file) and (folder / file).is_file()):
            raise PubmillError(
                f"{name}: {INDEX} gives {file!r:.80} as the file of {tensor!r:.80}; expected a .safetensors "
                f"file of this folder"
            )
    return [folder / file for file in sorted(set(files.values()))]


def read_shapes(files: list[Path], name: str) -> Shapes:
    """Return name -> shape of every tensor, from the files' headers."""
    shapes: Shapes = {}
    for path in files:
        with _open_tensors(path, name) as tensors:
            for tensor in tensors.keys():  # noqa: SIM118 (not a mapping)
                view = tensors.get_slice(tensor)
                if tensor in shapes:
                    raise PubmillError(f"{name}: {tensor!r:.80} is in two of the weight files")
                if view.get_dtype() not in DTYPES:
                    raise PubmillError(
                        f"{name}: {path.name}: {tensor!r:.80} is of type {view.get_dtype()}, as quantised "
                        f"weights are; expected one of {', '.join(sorted(DTYPES))}"
                    )
                shapes[tensor] = tuple(view.get_shape())
    return shapes


@contextmanager
def _open_tensors(path: Path, name: str) -> Iterator[Any]:
    try:
        with safe_open(path, "pt") as tensors:
            yield tensors
    except (SafetensorError, OSError, ValueError) as error:
        raise PubmillError(f"{name}: {path.name} is damaged: {error}; get the file again") from None


def pickled_shapes(path: Path, name: str) -> Shapes:
    """Return name -> shape of every tensor of a pickle; only tensors are read, and none is allocated."""
    advice = (
        f"{name}: {path.name} is damaged or holds more than tensors. Nothing in a pickle is ever run here; "
        f"if you trust the file, write it as safetensors with save_pretrained"
    )
    with reported(advice):
        loaded = torch.load(path, map_location="meta", weights_only=True)
    if not isinstance(loaded, dict) or not all(isinstance(key, str) for key in loaded):
        raise PubmillError(advice)
    tensors = {key: value for key, value in loaded.items() if isinstance(value, torch.Tensor)}
    return {key: tuple(tensor.shape) for key, tensor in tensors.items()}


def check_shapes(folder: Path, shapes: Mapping[str, tuple[int, ...]], name: str) -> None:
    """Compare tensors with the encoder that config.json describes, built without memory: each of its tensors
    is there once, and no other one of its parts. The pooler may be missing, since some models are trained
    without one. Where names differ, transformers may rename or split tensors when it loads them (NomicBERT,
    Jina v3), or know that it needs none (positions of older files); then its report of loading decides."""
    config = load_config(folder, name)
    encoder = empty_encoder(config, name)
    prefix = f"{encoder.base_model_prefix}."
    by_name: dict[str, tuple[int, ...]] = {}
    for key, shape in shapes.items():
        if (short := _current_tensor_name(key).removeprefix(prefix)) in by_name and _is_part(short, encoder):
            raise PubmillError(
                f"{name}: the weights hold {prefix}{short} and {short}, which are one tensor of the encoder; "
                f"keep one of the two"
            )
        by_name[short] = shape
    known = {key.removeprefix(prefix) for key in encoder.state_dict()}
    unused = sorted(key for key in by_name if key not in known and _is_part(key, encoder))
    missing: list[str] = []
    for key, parameter in encoder.named_parameters():
        found = by_name.get(key.removeprefix(prefix))
        if found is None:
            missing += [key] if "pooler" not in key else []
        elif found != tuple(parameter.shape):
            raise PubmillError(
                f"{name}: {key} has the shape {_shape_text(found)} in the weights, and by config.json "
                f"{_shape_text(tuple(parameter.shape))}; the two don't belong together"
            )
    # Load the encoder only if it has no more numbers than its files.
    numbers = sum(weight.numel() for key, weight in encoder.named_parameters() if "pooler" not in key)
    if (missing or unused) and weight_files(folder, name) and numbers <= sum(map(math.prod, shapes.values())):
        missing, unused = _differences_when_loaded(folder, config, name)
    if missing:
        raise PubmillError(
            f"{name}: the weights lack {len(missing):,} tensors that config.json describes, such as "
            f"{missing[0]}; the two don't belong together"
        )
    if unused:
        raise PubmillError(
            f"{name}: the weights hold {len(unused):,} tensors of the encoder that config.json does not "
            f"describe, such as {unused[0]}, so that a part of the model would not be used; the two don't "
            f"belong together (is the number of layers right?)"
        )


def _is_part(key: str, encoder: Any) -> bool:
    """Return whether a tensor is a weight of a part of the encoder other than the pooler, not of a head."""
    parts = dict(encoder.named_children()).keys() - {"pooler"}
    return key.partition(".")[0] in parts and key.rpartition(".")[2] not in _CONSTANTS


def _differences_when_loaded(folder: Path, config: Any, name: str) -> tuple[list[str], list[str]]:
    """Return the names of parameters, except the pooler's, for which transformers finds no weights, and those
    of the encoder's weights that it does not use."""
    with reported(f"{name}: transformers can't load this model folder"):
        encoder, report = encoder_class(config).from_pretrained(
            folder,
            config=config,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    prefix = f"{encoder.base_model_prefix}."
    unused = (key.removeprefix(prefix) for key in report["unexpected_keys"])
    return (
        sorted(key for key in report["missing_keys"] if "pooler" not in key),
        sorted(key for key in unused if _is_part(key, encoder)),
    )


def _current_tensor_name(key: str) -> str:
    """Return a tensor's current name; older layer norms have `gamma` and `beta`, as in TensorFlow."""
    modern = {"gamma": "weight", "beta": "bias"}
    return re.sub(r"(LayerNorm\.)(gamma|beta)$", lambda m: m[1] + modern[m[2]], key)


def _shape_text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "one number"


def check_finite(files: list[Path], name: str) -> None:
    """Refuse weights with NaN or infinity; one tensor is in memory at a time."""
    for path in files:
        with _open_tensors(path, name) as tensors:
            for tensor in tensors.keys():  # noqa: SIM118
                if not bool(torch.isfinite(tensors.get_tensor(tensor)).all()):
                    raise PubmillError(
                        f"{name}: {path.name}: {tensor!r:.80} holds NaN or infinity; get the file again"
                    )
