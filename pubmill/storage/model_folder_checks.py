"""Checks of model folders made elsewhere, from which transformers reads settings, weights and a tokenizer.

Settings that lead to code, other files or other models are removed or refused; names and shapes of the
weights must match config.json; every number must be finite.
"""

import json
import logging
import math
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from pubmill.errors import PubmillError
from pubmill.storage.encoder_checks import encoder_class, load_config, reported
from pubmill.storage.model_folders import CONFIG

SETTINGS = (CONFIG, "tokenizer_config.json")
LARGEST_NUMBER = 100_000_000
MOST_LAYERS = 1_000
"""Maximum number of layers and groups of layers, each of which is an object even without weights."""

_REFUSED = {
    "auto_map": "asks for code of its own, which is never run here",
    "quantization_config": "describes quantised weights, which are not trained here; take the original",
    "compression_config": "describes compressed weights, which are not trained here; take the original",
}
_TAKEN_OUT = re.compile(r"_?(attn|experts)_implementation\w*|transformers_weights|trust_remote_code|\w+_file")
"""Settings that choose the attention implementation (possibly a downloaded program) or another file."""
_LAYERS = re.compile(r"layers?$|^n_layer|groups?$|group_num")
_CONSTANTS = ("position_ids", "token_type_ids", "masked_bias", "inv_freq")
"""Ends of the names of tensors that older files hold and that nobody learnt."""
_ADAPTER = "adapter_config.json"


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
    """Check links and settings of a folder that is loaded where it is. Settings that `take_settings` would
    remove are refused."""
    name = str(folder)
    check_links(folder, name)
    taken: list[str] = []
    list(_remaining_settings(folder, name, taken))
    if taken:
        raise PubmillError(
            f"{name}: {taken[0]} selects a program or another file; remove it from its settings"
        )


def _remaining_settings(folder: Path, name: str, taken: list[str]) -> Iterator[tuple[Path, Any]]:
    """Yield each settings file that changes, with what remains of it; append removed names to `taken`."""
    if (folder / _ADAPTER).exists():
        raise PubmillError(f"{name}: {_ADAPTER} makes this an adapter of another model; merge the two first")
    for path in (folder / file for file in SETTINGS):
        if path.is_file():
            try:
                whole = json.loads(path.read_bytes())
            except (ValueError, RecursionError) as error:
                raise PubmillError(f"{name}: {path.name} is not valid JSON: {error}") from None
            if not isinstance(whole, dict):
                raise PubmillError(f"{name}: {path.name} must hold an object, found {type(whole).__name__}")
            kept = _remove_settings(whole, f"{name}: {path.name}", taken, numbers=path.name == "config.json")
            if kept != whole:
                yield path, kept


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
        if numbers and isinstance(value, int | float) and not isinstance(value, bool):
            most = MOST_LAYERS if _LAYERS.search(key) else LARGEST_NUMBER
            if (isinstance(value, float) and not math.isfinite(value)) or abs(value) > most:
                raise PubmillError(f"{where}: {key} is {value!r:.40}; expected a number of at most {most:,}")
        if _TAKEN_OUT.fullmatch(key):
            taken += [key] if value is not None else []
        else:
            kept[key] = _remove_settings(value, where, taken, numbers)
    return kept


def load_weights(
    kind: Any,
    folder: Path,
    config: Any,
    name: str,
    fault: str = "transformers can't load this model folder",
    pickled: bool = False,
    **options: Any,
) -> tuple[Any, set[str]]:
    """Return the model of a folder, made by a class of transformers with these options, and the names of the
    weights that its files lack. The files are safetensors, or `pickled`, of which only tensors are read.
    transformers' own report of loading must say that each weight of the encoder, the pooler's aside, is in
    the files with its shape, and each weight of the files that belongs to the encoder is used; else a
    `PubmillError` names one. Heads may differ."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity(logging.ERROR)  # no report on heads missing from a checkpoint
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    names = {tensor for file in folder.glob("*.safetensors") for tensor in _tensor_names(file, name)}
    with reported(f"{name}: {fault}"):
        model, report = kind.from_pretrained(
            folder,
            config=config,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=not pickled,
            weights_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **options,
        )
    prefix = f"{model.base_model_prefix}."
    missing, unused, all_names = (
        _of_encoder(model, keys) for keys in (report["missing_keys"], report["unexpected_keys"], names)
    )
    faults = [f"{key} has the shape {list(a)}, not {list(b)}" for key, a, b in report["mismatched_keys"]]
    faults += [f"{key} is in no file" for key in missing]
    faults += [f"{key} is in the files and would not be used" for key in unused]
    faults += [f"{key} is also there as {prefix}{key}" for key in all_names if {key, prefix + key} <= names]
    if faults:
        raise PubmillError(
            f"{name}: {len(faults):,} tensors of the encoder are not as config.json describes them (is the "
            f"number of layers right?), such as: {faults[0]}"
        )
    return model, set(report["missing_keys"])


def _tensor_names(file: Path, name: str) -> list[str]:
    try:
        with safe_open(file, "pt") as tensors:
            return list(tensors.keys())
    except (SafetensorError, OSError, ValueError) as error:
        raise PubmillError(f"{name}: {file.name} is damaged: {error}; get the file again") from None


def _of_encoder(model: Any, keys: Iterable[str]) -> list[str]:
    """Return the names of weights of the parts of an encoder other than the pooler, without its prefix."""
    parts = dict(model.base_model.named_children()).keys() - {"pooler"}
    named = sorted(key.removeprefix(f"{model.base_model_prefix}.") for key in keys)
    return [key for key in named if key.partition(".")[0] in parts and not key.endswith(_CONSTANTS)]


def check_weights(folder: Path, name: str) -> None:
    """Load the encoder of a folder, as `load_weights` does, and refuse NaN and infinity in it."""
    config = load_config(folder, name)
    encoder, missing = load_weights(encoder_class(config), folder, config, name)
    for key, weight in encoder.named_parameters():
        if key not in missing and not bool(torch.isfinite(weight.float()).all()):
            raise PubmillError(f"{name}: {key!r:.80} holds NaN or infinity; get the file again")
