"""All installed packages are pinned by hash and are in the bill of materials."""

import json
import re
from pathlib import Path

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
