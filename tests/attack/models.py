"""Model folders that nobody should load: hostile settings, weights, indexes, links, tokenizers, pickles."""

import contextlib
import io
import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from tests.attack import attack, template
from tests.damage import damage
from tests.world.dice import Dice

EVIDENCE = "evidence"
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 10**9, 10**30, -(10**9), 0.5, float("nan"), float("inf"), "", "x",
    "../../x", "/etc/passwd",
    "strangers/kernel", [], [1], ["x.Y"], {}, {"a": 1}, {"AutoModel": "x.Y"}, "\x1b[2J\u202e",
)  # fmt: skip
KEYS = (
    "auto_map", "quantization_config", "_attn_implementation", "attn_implementation",
    "_attn_implementation_autoset", "transformers_weights",
    "model_type", "architectures", "tokenizer_class", "tokenizer_file", "vocab_file",
    "trust_remote_code", "gguf_file", "dtype",
    "torch_dtype", "num_labels", "id2label", "chunk_size_feed_forward", "text_config", "encoder",
    "is_decoder", "pruned_heads",
)  # fmt: skip
DEEP = "[" * 100_000


class _Evil:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.mkdir, (self.folder / EVIDENCE,)


@cache
def _sound() -> Path:
    from tests.unit.finetuning.encoder_families import save_encoder  # here, as it loads torch

    return save_encoder(template() / "bert", "bert")


def _settings(folder: Path, dice: Dice) -> None:
    path = folder / dice.pick(["config.json", "config.json", "tokenizer_config.json"])
    found = json.loads(path.read_text())
    for _ in range(dice.between(1, 3)):
        found[dice.pick([*found, *KEYS])] = dice.pick(VALUES)
    path.write_text(json.dumps(found))


def _text(folder: Path, dice: Dice) -> None:
    names = ("config.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt")
    path = dice.pick([folder / name for name in names if (folder / name).is_file()])
    hostile = [b"", b"{}", b"[]", b"null", b"\xff\xfe", DEEP.encode(), b'{"a": ' + b"9" * 5_000 + b"}"]
    path.write_bytes(dice.pick(hostile) if dice.chance(0.3) else damage(path.read_bytes(), dice).content)


def _weights(folder: Path, dice: Dice) -> None:
    """The header with other text of any length, or a byte or a length changed."""
    path = folder / "model.safetensors"
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + size]
    kind = dice.below(4)
    if kind == 0:
        content = dice.pick([0, 1, 2**31, 2**63, size - 1, size + 1]).to_bytes(8, "little") + content[8:]
    elif kind == 1:
        tensors = json.loads(header)
        one = tensors[dice.pick([name for name in tensors if name != "__metadata__"])]
        values: list[Any] = [[10**9, 10**9], [-1], [], [1, 32], "F8_E5M2", "I8", None, [0, 2**60], [5, 3]]
        one[dice.pick(list(one))] = dice.pick(values)
        new = json.dumps(tensors).encode()
        content = len(new).to_bytes(8, "little") + new + content[8 + size :]
    elif kind == 2:
        content = content[: 8 + size] + damage(content[8 + size :], dice).content
    else:
        content = damage(content, dice).content
    path.write_bytes(content)


def _index(folder: Path, dice: Dice) -> None:
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    files: list[Any] = ["../x.safetensors", "/etc/passwd", "a/b.safetensors", 7, None, "\0", ""]
    files += ["part.safetensors", "gone.safetensors"]
    where: list[Any] = [{"a": dice.pick(files), "b": dice.pick(files)}, [], "x", None, {}]
    index = {"weight_map": where[0] if dice.chance(0.8) else dice.pick(where)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _links(folder: Path, dice: Dice) -> None:
    path = folder / dice.pick(["config.json", "model.safetensors", "tokenizer.json", "vocab.txt"])
    path.unlink(missing_ok=True)
    path.symlink_to(dice.pick(["/etc/passwd", "/dev/zero", "/", "..", path.name, "gone", "../outside"]))


def _pickle(folder: Path, dice: Dice) -> None:
    """Weights as a pickle: hostile, of any protocol, or of anything but tensors, perhaps damaged."""
    (folder / "model.safetensors").unlink()
    value: Any = dice.pick([{"a": _Evil(folder)}, _Evil(folder), {"a": 1}, [1], None, {1: 2}])
    content = pickle.dumps(value, dice.below(6))
    (folder / "pytorch_model.bin").write_bytes(damage(content, dice).content if dice.chance(0.4) else content)


def _adapter(folder: Path, dice: Dice) -> None:
    base = {"base_model_name_or_path": dice.pick(["x/y", ".."])}
    (folder / "adapter_config.json").write_text(json.dumps(base))


Damage = Callable[[Path, Dice], None]
KINDS: tuple[Damage, ...] = (
    _settings, _settings, _settings, _text, _weights, _weights, _index, _links, _pickle, _adapter,
)  # fmt: skip


def _refusal(of: str, load: Callable[[], object]) -> str | None:
    """Load a damaged folder in silence; return the message with which it is refused, if it is."""
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            load()
    except PubmillError as error:
        return str(error)
    except BaseException as error:
        raise AssertionError(f"{of}: {type(error).__name__}: {error!s:.200}") from error
    return None


@attack("models", cases=400, quick=8)
def _case(dice: Dice, folder: Path) -> str:
    """Model folders with hostile settings, weights, indexes, links, tokenizers, pickles, adapters: exported,
    or refused in one line; no code runs, nothing is left."""
    from pubmill.pretraining.export import export  # here, as it loads torch
    from pubmill.recipes.models import ExportRecipe, LocalWeights

    theirs, kind = folder / "theirs", dice.pick(KINDS)
    shutil.copytree(_sound(), theirs)
    kind(theirs, dice)
    recipe = ExportRecipe(model="m", lowercase=True, weights=LocalWeights(local="theirs"))
    refused = _refusal(kind.__name__, lambda: export(recipe, folder / "m", folder=theirs))
    if refused is not None and (folder / "m").exists():
        return f"{kind.__name__}: refused, and a folder is left"
    if refused and (len(refused) > 1_000 or "\n" in refused):
        return f"{kind.__name__}: not one line: {refused:.300}"
    return f"{kind.__name__}: a pickle was run" if (theirs / EVIDENCE).exists() else ""


@cache
def _kept() -> Path:
    from tests.unit.finetuning.test_task_models import kept  # here, as it loads torch
    from tests.unit.tiny_encoders import tiny_bert
    from tests.unit.toy_tasks import SYLLABLES, TOKENS, write_dataset

    folder = template()
    with contextlib.redirect_stderr(io.StringIO()):
        encoder = tiny_bert(folder / "tiny", SYLLABLES)
        kept(folder / "kept", replace(TOKENS, epochs=1), encoder, write_dataset(folder / "data", "tokens"))
    return folder / "kept"


def _facts(folder: Path, dice: Dice) -> None:
    path = folder / "pubmill.json"
    found = json.loads(path.read_text())
    within = found["recipe"] if dice.chance(0.5) else found
    within[dice.pick(list(within))] = dice.pick(VALUES)
    content = json.dumps(found).encode()
    path.write_bytes(content if dice.chance(0.7) else damage(content, dice).content)


def _file(folder: Path, dice: Dice) -> None:
    path = dice.pick(sorted(folder.iterdir()))
    if dice.chance(0.3):
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes(), dice).content)


OF_TASKS: tuple[Damage, ...] = (
    _settings, _settings, _text, _weights, _index, _links, _facts, _facts, _file, _file,
)  # fmt: skip


@attack("task-models", cases=400, quick=6)
def _task_case(dice: Dice, folder: Path) -> str:
    """Kept task models with hostile or damaged settings, weights, heads, tokenizers, labels, links: loaded,
    or refused in one message that names the folder."""
    import torch  # here, as it takes seconds

    from pubmill.finetuning.task_models import load_task_model

    theirs, kind = folder / "theirs", dice.pick(OF_TASKS)
    shutil.copytree(_kept(), theirs)
    kind(theirs, dice)
    refused = _refusal(kind.__name__, lambda: load_task_model(theirs, torch.device("cpu")))
    named = refused is None or str(theirs) in refused
    return "" if named else f"{kind.__name__}: not named: {refused:.200}"
