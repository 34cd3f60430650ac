"""Conda environments from the lock: for training stages, floors, and all others.

    python -m tests.envs            which files of envs/ are not as the lock says
    python -m tests.envs --write    write them (`make lock` does so)

Conda installs Python, and pip the exact versions of requirements/lock.txt: a separate lock for conda could
disagree with it. The dependencies of a package are included; they are taken from the lock's comments.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "3.11"
DATA = (
    "duckdb", "huggingface-hub", "isal", "jinja2", "lxml", "nltk", "numpy", "pandas", "protobuf",
    "pubmed-parser", "pyarrow", "pydantic", "pylatexenc", "pyyaml", "rensa", "requests", "rocrate",
    "safetensors", "scipy", "sentencepiece", "seqeval", "tokenizers", "transformers",
)  # fmt: skip
TRAINING = ("numpy", "safetensors", "tensorboard", "tokenizers", "tqdm", "transformers", "huggingface-hub")
TORCH_NEEDS = ("filelock", "fsspec", "jinja2", "networkx", "setuptools", "sympy", "typing-extensions")
ENVS = {
    "data": DATA, "training": (*DATA, *TRAINING, *TORCH_NEEDS, "torch"), "floors": (*DATA, "scikit-learn"),
}  # fmt: skip


def pins() -> dict[str, str]:
    """Return package -> its version in the lock; torch's is from its own file."""
    found: dict[str, str] = {}
    for name in ("lock.txt", "torch.txt"):
        text = (ROOT / "requirements" / name).read_text()
        found |= dict(re.findall(r"(?m)^([a-z0-9._-]+)==([^\s\\]+)", text))
    return found


def dependents() -> dict[str, set[str]]:
    """Return package -> the packages that depend on it, from the lock's comments."""
    found: dict[str, set[str]] = {}
    for name, block in re.findall(
        r"(?ms)^([a-z0-9._-]+)==(.*?)(?=^[a-z0-9._-]+==|\Z)", (ROOT / "requirements/lock.txt").read_text()
    ):
        found[name] = set(re.findall(r"(?m)^    #(?: via|  ) ([a-z0-9._-]+)(?:\[[^\]]*\])?$", block))
    return found


def closure(roots: Iterable[str]) -> list[str]:
    parents, found = dependents(), set(roots)
    while more := {name for name, by in parents.items() if by & found} - found:
        found |= more
    return sorted(found)


def environment(name: str) -> str:
    known = pins()
    lines = [f"      - {package}=={known[package]}" for package in closure(ENVS[name])]
    return "\n".join(
        [
            "# Written by `python -m tests.envs --write` from requirements/lock.txt; not to be edited.",
            "channels: [conda-forge, nodefaults]", "dependencies:", f"  - python={PYTHON}", "  - pip",
            "  - pip:", *lines, "",
        ],
    )  # fmt: skip


def file_of(name: str) -> Path:
    return ROOT / "envs" / f"{name}.yaml"


def stale() -> list[str]:
    return [
        name for name in ENVS if not file_of(name).is_file() or file_of(name).read_text() != environment(name)
    ]


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        for made in ENVS:
            file_of(made).write_text(environment(made))
    print("\n".join(stale()) or "all environments match the lock")
