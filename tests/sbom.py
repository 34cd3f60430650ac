"""Bill of materials in CycloneDX JSON: the packages that pubmill needs at run time.

    python -m tests.sbom > sbom.cdx.json      (make sbom)

It is made only from requirements/: each package with its version, the SHA-256 of each file that may be
installed, and its dependencies. It has no time and no random number: the same lock gives the same bytes.
"""

import json
import tomllib
from typing import Any

from tests.envs import ROOT, dependents
from tests.torch_lock import pinned

FILES = ("lock.txt", "torch.txt", "cuda.txt")


def bill() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = _reference(project["name"], project["version"])
    known: dict[str, set[str]] = {}
    for file in FILES:
        for pin, hashes in pinned(ROOT / "requirements" / file).items():
            known.setdefault(pin, set()).update(hashes)
    references = {pin.partition("==")[0]: _reference(*pin.split("==")) for pin in known}
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": own, "name": project["name"], "version": project["version"],
                "licenses": [{"license": {"id": project["license"]}}],
            },
        },
        "components": [_component(pin, known[pin]) for pin in sorted(known)],
        "dependencies": _dependencies(project["name"], own, references),
    }  # fmt: skip


def _reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def _component(pin: str, hashes: set[str]) -> dict[str, Any]:
    name, version = pin.split("==")
    reference = _reference(name, version)
    return {
        "type": "library", "bom-ref": reference, "name": name, "version": version, "purl": reference,
        "hashes": [{"alg": "SHA-256", "content": one} for one in sorted(hashes)],
    }  # fmt: skip


def _dependencies(project: str, own: str, references: dict[str, str]) -> list[dict[str, Any]]:
    """Return each package's dependencies from the lock's comments; torch and the CUDA libraries have none."""
    parents = dependents()
    asks = {reference: {"ref": reference, "dependsOn": []} for reference in (own, *references.values())}
    for name, reference in sorted(references.items()):
        for parent in sorted(parents.get(name) or {project}):
            asks[references.get(parent, own)]["dependsOn"].append(reference)  # type: ignore[attr-defined]
    return [asks[reference] for reference in sorted(asks)]


if __name__ == "__main__":
    print(json.dumps(bill(), indent=2))
