"""Conda environments from the lock, one for the stages that train, one for a pipeline, one for all others.

    python -m tests.envs            which files of envs/ are not as the lock says
    python -m tests.envs --write    write them (`make lock` does so)

Conda brings Python, and pip the very versions of requirements/lock.txt: a lock of conda's own would be a
second truth. What a package asks for is taken along, as the lock's comments say who asks for what.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "3.11"
DATA = (
    "duckdb", "huggingface-hub", "isal", "jinja2", "lxml", "nltk", "numpy", "protobuf", "pubmed-parser",
    "pyarrow", "pydantic", "pyyaml", "rensa", "requests", "rocrate", "safetensors", "sentencepiece",
    "seqeval", "tokenizers", "transformers",
)  # fmt: skip
TRAINING = ("numpy", "safetensors", "tensorboard", "tokenizers", "tqdm", "transformers", "huggingface-hub")
TORCH_NEEDS = ("filelock", "fsspec", "jinja2", "networkx", "setuptools", "sympy", "typing-extensions")
ENVS = {
    "data": DATA,
    "training": (*DATA, *TRAINING, *TORCH_NEEDS, "torch"),
    "pipelines": (*DATA, "spacy"),
}


def pins() -> dict[str, str]:
    """Package -> its version in the lock, torch's from its own file."""
    found: dict[str, str] = {}
    for name in ("lock.txt", "torch.txt"):
        text = (ROOT / "requirements" / name).read_text()
        found |= dict(re.findall(r"(?m)^([a-z0-9._-]+)==([^\s\\]+)", text))
    return found


def asked_for() -> dict[str, set[str]]:
    """Package -> what asks for it, as the lock's comments say."""
    found: dict[str, set[str]] = {}
    for name, block in re.findall(
        r"(?ms)^([a-z0-9._-]+)==(.*?)(?=^[a-z0-9._-]+==|\Z)", (ROOT / "requirements/lock.txt").read_text()
    ):
        found[name] = set(re.findall(r"(?m)^    #(?: via|  ) ([a-z0-9._-]+)(?:\[[^\]]*\])?$", block))
    return found


def closure(roots: Iterable[str]) -> list[str]:
    """The packages and all that they ask for."""
    parents, found = asked_for(), set(roots)
    while more := {name for name, by in parents.items() if by & found} - found:
        found |= more
    return sorted(found)


def environment(name: str) -> str:
    """The text of an environment's file."""
    known = pins()
    lines = [f"      - {package}=={known[package]}" for package in closure(ENVS[name])]
    return "\n".join(
        [
            "# Written by `python -m tests.envs --write` from requirements/lock.txt; not to be edited.",
            "channels: [conda-forge, nodefaults]",
            "dependencies:",
            f"  - python={PYTHON}",
            "  - pip",
            "  - pip:",
            *lines,
            "",
        ]
    )


def file_of(name: str) -> Path:
    return ROOT / "envs" / f"{name}.yaml"


def stale() -> list[str]:
    """Environments whose file is not as the lock says."""
    return [
        name for name in ENVS if not file_of(name).is_file() or file_of(name).read_text() != environment(name)
    ]


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        for made in ENVS:
            file_of(made).write_text(environment(made))
    print("\n".join(stale()) or "all environments are as the lock says")
