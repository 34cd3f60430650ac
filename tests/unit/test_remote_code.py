"""No model folder makes transformers run its code, unpickle its weights or ask the network for a file."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MODULES = {
    "pubmill/finetuning/encoders.py": set(), "pubmill/finetuning/task_models.py": set(),
    "pubmill/pretraining/architectures.py": {True}, "pubmill/pretraining/export.py": set(),
    "pubmill/storage/encoder_checks.py": set(), "pubmill/storage/model_folder_checks.py": set(),
    "pubmill/pretraining/learners.py": {True},
}  # fmt: skip
"""Modules that call transformers' loaders, and whether they always read weights as safetensors;
`model_folder_checks` also reads a pickle, of which it takes tensors only."""


def loaders(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each loader that a module calls, and its constant arguments."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in ("from_pretrained", "from_config"):
            named = {str(one.arg): one.value for one in node.keywords}
            constants = {
                key: one.value if isinstance(one, ast.Constant) else None for key, one in named.items()
            }
            yield node.func.attr, constants


@pytest.mark.parametrize("module", MODULES)
def test_loaders_stay_on_this_machine_and_run_no_code(root: Path, module: str) -> None:
    found = list(loaders(root / module))
    assert found
    for name, constants in found:
        assert constants["trust_remote_code"] is False
        assert name == "from_config" or constants["local_files_only"] is True
        assert constants.get("use_safetensors", True) or constants["weights_only"] is True
    formats = {constants.get("use_safetensors") for _, constants in found}
    assert formats - {None} == MODULES[module]


def test_no_other_module_loads_models(root: Path) -> None:
    modules = {path.relative_to(root).as_posix() for path in (root / "pubmill").rglob("*.py")}
    assert {module for module in modules if any(loaders(root / module))} == set(MODULES)
