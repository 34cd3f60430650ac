"""All installed packages are pinned and in the bill of materials; the image holds the code, and no data."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.envs import pins
from tests.sbom import bill
from tests.torch_lock import CUDA, TORCH, TRITON, pinned, triton_of


def test_every_package_has_hashes(root: Path) -> None:
    for path in sorted((root / "requirements").glob("*.txt")):
        found = pinned(path)
        assert found and all(found.values()), path
        assert len(found) == len(re.findall(r"(?m)^[a-z0-9]\S*==", path.read_text())), path


def test_torch_is_the_same_in_both_files_and_cuda_has_its_libraries() -> None:
    pin = f"torch=={pins()['torch']}"
    torch, cuda = pinned(TORCH), pinned(CUDA)
    assert torch.keys() == {pin}
    assert cuda[pin] < torch[pin] and len(torch[pin]) == 9 and len(cuda[pin]) == 6
    names = {name.partition("==")[0] for name in cuda}
    assert {"triton", "nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-nccl-cu13", "cuda-toolkit"} <= names
    assert not (names - {"torch"}) & pins().keys()
    assert pinned(TRITON) == triton_of(cuda)


def test_the_bill_of_materials_has_every_package_with_its_hashes_and_is_reproducible() -> None:
    made = bill()
    assert json.dumps(made) == json.dumps(bill())
    components = {part["bom-ref"]: part for part in made["components"]}
    assert {f"pkg:pypi/{name}@{version}" for name, version in pins().items()} <= components.keys()
    assert all(part["hashes"] for part in components.values())
    asked = {one["ref"]: one["dependsOn"] for one in made["dependencies"]}
    assert asked.keys() == {*components, made["metadata"]["component"]["bom-ref"]}
    reached, new = set(), {made["metadata"]["component"]["bom-ref"]}
    while new:
        reached |= new
        new = {child for parent in new for child in asked[parent]} - reached
    assert reached == asked.keys()


def test_the_image_is_pinned_and_not_root(root: Path) -> None:
    lines = (root / "Dockerfile").read_text()
    assert "FROM ${BASE}" in lines and "@sha256:DIGEST" in lines
    assert lines.index("USER pubmill") < lines.index("ENTRYPOINT")
    installs = re.findall(r"pip install (?:[^&;]|\\\n)*", lines)
    assert len(installs) == 3
    assert all("--require-hashes" in one or "download.pytorch.org/whl/cpu" in one for one in installs)
    assert "cu128" not in lines


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
