"""What the rules need: the graph, prepared from the configuration before they are read; parts of rules."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from filelock import FileLock

from pubmill.errors import ExitWithMessage, PubmillError, exit_with_message, hide_interrupt_traceback
from pubmill.messages.installation import own_settings
from pubmill.messages.run_sources import check_graph_sources, run_sources
from pubmill.specs import Specs, strict_yaml
from pubmill.specs.study import Study, check_files, check_study, without_demo
from pubmill.stages import Graph
from pubmill.stages.gpus import read_gpus
from pubmill.storage.name_patterns import FACT_TABLE

COMPILED = ".compiled"
"""Folder below the results of all scales; `make clean` removes it."""
CACHES = {"TORCHINDUCTOR_CACHE_DIR": "torch", "TRITON_CACHE_DIR": "triton"}
"""Environment variables of the folders in which compilers keep kernels for later jobs."""
FAILED_CELLS = 3
"""Exit status of a run whose jobs are all done, but whose tables have cells of failed trainings."""


@exit_with_message
def prepare(
    workflow: Any, config: dict[str, Any], root: Path
) -> tuple[Study, Specs, ExitWithMessage, str, Callable[[], FileLock], Callable[[], None]]:
    """Check the configuration in the checkout `root`, and return its study, the specs, the study's graph,
    whose errors end the run with their plain message, the prefix of shell commands, what a run does before
    its first job (it returns the lock of the results), and what it does after its last."""
    sources = {}
    if not workflow.is_main_process:  # part of a job, which reads rules and specs again
        check_graph_sources()
    elif Path(workflow.main_snakefile).parent.resolve() == root.resolve():  # not imported as a module
        hide_interrupt_traceback()
        check_state_folder(Path.cwd())
        sources = run_sources(root, workflow.configfiles)
    check_files(workflow.configfiles)
    study, specs = check_study(_study_settings(workflow, config, root), root / "specs", workflow.configfiles)
    graph = Graph(study, specs, read_gpus(root / "specs", root / "benchmarks"), root)
    keep_compiled(Path(study.results))
    methods = {method.name for method in workflow.deployment_settings.deployment_method}
    own_environments = has_own_environments(methods, study)

    @exit_with_message
    def begin_run() -> FileLock:
        from pubmill.workflow.run_start import begin  # which imports the hub's library

        return begin(workflow, graph, sources, own_environments)

    @exit_with_message
    def end_run() -> None:
        from pubmill.tables.cells import NO_RECORD, read_table  # only the end of a run reads tables

        files = {name: Path(graph.paths.table(name, "json")) for name in graph.requests.result_tables()}
        failed = [
            f"failed: {name}, {column.label}, {row.label}: {cell.missing}"
            for name, file in files.items()
            for row, column, cell in (read_table(file).read() if file.is_file() else ())
            if any(seed.failed not in (None, NO_RECORD) for seed in cell.seeds)
        ]
        if failed:
            print("\n".join(failed), file=sys.stderr)
            raise SystemExit(FAILED_CELLS)

    prefix = shell_prefix(root, own_environments)
    return study, specs, ExitWithMessage(graph), prefix, begin_run, end_run


def _study_settings(workflow: Any, config: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return the configuration; that of another study than the demo, without the demo's own keys. A workflow
    that imports this one as a module gives a complete configuration, which needs no config.yaml."""
    if workflow.modifier.skip_configfile:
        return config
    files = (root / "config.yaml", *own_settings(root))
    demo, *own = (strict_yaml.read(Path(file), str(file), []).value for file in files)
    given = {*chain(*own), *workflow.config_settings.overwrite_config}
    return without_demo(config, demo, given, workflow.configfiles)


def check_state_folder(folder: Path) -> None:
    """Raise a `PubmillError` if Snakemake cannot keep its state below the working folder."""
    state = folder / ".snakemake"
    if not os.access(state if state.exists() else folder, os.W_OK | os.X_OK):
        raise PubmillError(
            f"{folder} cannot be written to, but Snakemake keeps its state there, in {state.name}, even for "
            f"a plan or with -n. Clone the repository to a folder of your own, or make this one writable"
        )


def keep_compiled(results: Path) -> None:
    """Let jobs keep kernels that are compiled for GPUs below the results, unless the user names a folder."""
    for name, kind in CACHES.items():
        os.environ.setdefault(name, str(results.absolute() / COMPILED / kind))


def has_own_environments(methods: set[str], study: Study) -> bool:
    """Return whether jobs run with a Python other than Snakemake's; a `PubmillError` if there is no image.
    `methods`: names of Snakemake's methods of deployment (--sdm)."""
    if "APPTAINER" in methods and not study.container:
        raise PubmillError(
            "--sdm apptainer: the configuration names no image; set `container:` to a .sif file, or to an "
            "address such as docker://HOST/NAME@sha256:DIGEST (docs/clusters.md)"
        )
    return not methods.isdisjoint({"APPTAINER", "CONDA"})


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


def untracked(find: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A parameter that reruns no job when it changes, such as the place of the user's own files. Snakemake
    compares no parameters that are derived from outputs. What a job depends on is the content of these files,
    which is a parameter of its own."""
    return lambda wildcards, output: find(wildcards)


def shell_prefix(root: Path, own_environments: bool) -> str:
    """What comes before every shell command; `root` is the checkout. Programs run with the Python of this
    Snakemake, unless each has an environment of its own (--sdm)."""
    path = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"
    return (
        f"set -euo pipefail; export PYTHONUNBUFFERED=1 PYTHONSAFEPATH=1 PYTHONPATH={shlex.quote(str(root))} "
        f"{'' if own_environments else path}; "
    )
