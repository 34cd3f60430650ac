"""Extras, optional features beside the pipeline: each a folder, deletable with its rules file and tests.

The core imports no extra. It finds what extras register by the ends of their modules' names: `_command` (a
verb of the command), `_stages` (stages of the graph).
"""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType


def modules(ending: str) -> Iterator[ModuleType]:
    """Yield the modules of all extras whose names have this ending."""
    for one in walk_packages(__path__, f"{__name__}."):
        if one.name.endswith(ending):
            yield import_module(one.name)
