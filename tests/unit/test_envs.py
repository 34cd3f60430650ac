"""All packages are pinned, also in conda environments and bill of materials; the image holds no data."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pubmill.stages.stage import stages
from tests.envs import ENVS, closure, dependents, file_of, pins, stale
from tests.imports import imported, reached
from tests.sbom import bill
from tests.torch_lock import CUDA, TORCH, TRITON, pinned, triton_of

CALLED = {
    "yaml": "pyyaml", "google": "protobuf", "jinja2": "jinja2", "huggingface_hub": "huggingface-hub",
    "pubmed_parser": "pubmed-parser", "pydantic_core": "pydantic-core", "sklearn": "scikit-learn",
}  # fmt: skip
"""Modules whose names differ from their packages' names."""
OPTIONAL = {"tensorboard", "triton"}
"""Packages that are used where they are: PyTorch's builds for GPUs bring triton."""


def rules(root: Path) -> list[tuple[str, str]]:
    text = "".join(path.read_text() for path in sorted((root / "rules").rglob("*.smk")))
    found = []
    for block in re.split(r"(?m)^rule ", text)[1:]:
        rule, env = re.match(r"\w+(?=:)", block), re.search(r"envs/(\w+)\.yaml", block)
        if rule:
            assert env, block
            found.append((rule[0], env[1]))
    return found


def test_the_files_are_as_the_lock_says() -> None:
    assert stale() == [], "write them with `python -m tests.envs --write`"


@pytest.mark.parametrize("name", ENVS)
def test_an_environment_is_whole_and_pinned(name: str) -> None:
    made = yaml.safe_load(file_of(name).read_text())
    (pip,) = [one["pip"] for one in made["dependencies"] if isinstance(one, dict)]
    versions = dict(line.split("==") for line in pip)
    assert versions.items() <= pins().items()
    for package, parents in dependents().items():
        assert package in versions or not parents & versions.keys(), f"{package} is asked for"


def test_what_is_asked_for_is_read_from_the_lock() -> None:
    assert "pydantic" in dependents()["annotated-types"]
    assert {"pydantic-core", "annotated-types"} <= set(closure(["pydantic"]))
    assert "torch" not in closure(ENVS["data"]) and "torch" in closure(ENVS["training"])


def test_every_rule_has_an_environment_with_what_its_program_imports(root: Path) -> None:
    found = rules(root)
    assert len(found) > 30
    for rule, env in found:
        known = {*closure(ENVS[env]), *OPTIONAL, "pubmill"}
        for path in reached(root, [root / stages()[rule].program]):
            tops = {module.split(".")[0] for module in imported(path)} - sys.stdlib_module_names
            needs = {CALLED.get(top, top) for top in tops}
            lacking = sorted(needs - known)
            assert not lacking, f"{rule}: {path} imports {lacking}, which envs/{env}.yaml lacks"


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
