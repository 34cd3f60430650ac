"""Content of the image: the code, and no data of the person who builds it."""

import re
import subprocess
from pathlib import Path

import pytest

NEEDED = """
Snakefile config.yaml rules/tables.smk pubmill/specs/study.py scripts/finetune.py specs/scales/demo.yaml
profiles/local/config.yaml requirements/lock.txt benchmarks/README.md tests/world/__main__.py
""".split()
DATA = """
results/full/datasets/i2b2-2010/train.jsonl.gz mirror/local/mimic-iii/NOTEEVENTS.csv.gz data/a.csv res/demo/x
local/mednli/a.jsonl NOTEEVENTS.csv.gz my-notes/a.txt tests/world/mirror/a .venv/bin/python .git/config .env
.snakemake/log/a .cache/huggingface/a .hypothesis/a pubmill/__pycache__/a.pyc specs/.secret study.yaml
results2 runs.tar.gz build/lib/a.py
""".split()


def excluded(path: str, lines: list[str]) -> bool:
    """Apply .dockerignore as Docker does: the last line that matches a path or a folder above it decides."""
    places = [path, *(str(parent) for parent in Path(path).parents if str(parent) != ".")]
    out = False
    for line in lines:
        pattern = re.escape(line.removeprefix("!")).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
        if any(re.fullmatch(pattern, place) for place in places):
            out = not line.startswith("!")
    return out


@pytest.fixture
def lines(root: Path) -> list[str]:
    text = (root / ".dockerignore").read_text()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_code_and_no_data_go_into_the_image(root: Path, lines: list[str]) -> None:
    assert [path for path in DATA if not excluded(path, lines)] == []
    assert [path for path in NEEDED if excluded(path, lines) or not (root / path).is_file()] == []


def test_all_that_goes_in_is_tracked(root: Path, lines: list[str]) -> None:
    """Every allowed name exists, so that no unused name admits a file."""
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True).stdout
    if not tracked:
        pytest.skip("no git checkout")
    let_in = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert [name for name in let_in if not re.search(rf"(?m)^{re.escape(name)}(/|$)", tracked)] == []
