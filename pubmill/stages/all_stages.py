"""All stages: those of this package, and those of the extras that are there."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import pubmill.stages
from pubmill import extras
from pubmill.messages.stage_groups import GROUPS, OTHER
from pubmill.stages.stage import Stage


@cache
def stages() -> dict[str, type[Stage]]:
    """Return all stages by the names of their rules, ordered by group."""
    kinds: dict[str, type[Stage]] = {}
    for module in _modules():
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Stage) and "name" in vars(kind):
                assert kinds.setdefault(kind.name, kind) is kind, f"two stages are called {kind.name}"
    order = list(GROUPS)
    return dict(sorted(kinds.items(), key=lambda one: order.index(one[1].group)))


def _modules() -> Iterator[ModuleType]:
    for one in pkgutil.iter_modules(pubmill.stages.__path__):
        yield importlib.import_module(f"pubmill.stages.{one.name}")
    yield from extras.modules("_stages")


def requested_reports() -> dict[str, str]:
    """Return the words by which stages' files beside the report are requested, with the files' endings."""
    return {word: ending for stage in stages().values() for word, ending in stage.words.items()}


def group_of(rule: str) -> str:
    """Return the group of a rule's stage."""
    return stages()[rule].group if rule in stages() else OTHER


def rules_by_group() -> dict[str, tuple[str, ...]]:
    """Return group -> its rules."""
    return {group: tuple(rule for rule in stages() if group_of(rule) == group) for group in GROUPS}
