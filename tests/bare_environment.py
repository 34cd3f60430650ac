"""A Python environment with nothing but torch, transformers, pydantic, and what they need."""

import re
import sys
import venv
from importlib import metadata
from pathlib import Path


def make(folder: Path) -> Path:
    """Make the environment from links to this one's packages; return its Python."""
    venv.create(folder, symlinks=True)
    site = folder / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    for name in sorted(needed("torch", "transformers", "pydantic")):
        distribution = metadata.distribution(name)
        tops = {path.parts[0] for path in distribution.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return folder / "bin/python"


def needed(*names: str) -> set[str]:
    """Return the installed distributions that these need, directly or indirectly, and these."""
    waiting, found = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        try:
            requirements = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # for another system
        if name not in found:
            found.add(name)
            # A name ends where extras, versions or markers begin.
            waiting += [re.split(r"[\s\[;<>=!~(]", one)[0] for one in requirements if "extra ==" not in one]
    return found
