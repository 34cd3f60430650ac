"""Parts of rules: patterns of wildcards, parameters that rerun no job, the prefix of shell commands."""

import re
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

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


class Places(NamedTuple):
    """What commands name beside files of the graph: the checkout's programs, extras and specs, the results,
    and the option for the mirror."""

    scripts: str
    extras: str
    specs: str
    results: str
    mirror: list[str]


def places(root: Path, results: str, mirror: str | None) -> dict[str, Callable[[Any, Any], Places]]:
    """Return the parameter `places` of all rules; nothing reruns if the places move. It is one parameter,
    because Snakemake looks at each of each job several times."""
    extras, specs = root / "pubmill/extras", root / "specs"
    option = ["--mirror", mirror] if mirror else []
    found = Places(str(root / "scripts"), str(extras), str(specs), results, option)
    return {"places": not_compared(lambda wildcards: found)}


def shell_prefix(root: Path, own_environments: bool) -> str:
    """What comes before every shell command; `root` is the checkout. Programs run with the Python of this
    Snakemake, unless each has an environment of its own (--sdm)."""
    path = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"
    return (
        f"set -euo pipefail; export PYTHONUNBUFFERED=1 PYTHONSAFEPATH=1 PYTHONPATH={shlex.quote(str(root))} "
        f"{'' if own_environments else path}; "
    )
