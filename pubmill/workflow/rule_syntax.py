"""Parts of rules: patterns of wildcards, parameters that rerun no job, the prefix of shell commands."""

import re
import shlex
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from pubmill.storage.name_patterns import FACT_TABLE


def any_of(names: Iterable[str]) -> str:
    """A pattern that matches each of the names and nothing else; nothing at all if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def wildcard_patterns(protocols: Iterable[str]) -> dict[str, str]:
    """Return the patterns of the wildcards that mean the same in all rules."""
    names = "corpus source block vocab recipe model dataset setting trial paper".split()
    return {
        **dict.fromkeys(names, "[^/]+"),
        "protocol": any_of(protocols),
        "table": FACT_TABLE,
        "seed": "[0-9]+",
    }


def not_compared(find: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A parameter that reruns no job when it changes, such as the place of the user's own files. Snakemake
    compares no parameters that are derived from outputs. What a job depends on is the content of these files,
    which is a parameter of its own."""
    return lambda wildcards, output: find(wildcards)


def places(root: Path, results: str, mirror: str | None) -> dict[str, Callable[[Any, Any], Any]]:
    """Return parameters of all rules: the checkout's programs and specs, the results, the mirror's option.
    Commands name them, and nothing reruns if they move."""
    parameters: dict[str, str | list[str]] = {
        "scripts": str(root / "scripts"),
        "extras": str(root / "pubmill/extras"),
        "specs": str(root / "specs"),
        "results": results,
    }
    parameters["mirror"] = ["--mirror", mirror] if mirror else []
    return {name: not_compared(partial(_always, place)) for name, place in parameters.items()}


def _always(value: Any, wildcards: Any) -> Any:
    return value


def shell_prefix(root: Path, own_environments: bool) -> str:
    """What comes before every shell command; `root` is the checkout. Programs run with the Python of this
    Snakemake, unless each has an environment of its own (--sdm)."""
    path = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"
    return (
        f"set -euo pipefail; export PYTHONUNBUFFERED=1 PYTHONPATH={shlex.quote(str(root))} "
        f"{'' if own_environments else path}; "
    )
