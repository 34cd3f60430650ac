"""Everything that the rules need, prepared from the configuration before they are read."""

import atexit
import os
import sys
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock
from snakemake.common.configfile import load_configfile
from snakemake.settings.types import DeploymentMethod
from snakemake.shell import shell

from pubmill.errors import Plain, PubmillError, interrupt_plainly, plainly
from pubmill.messages.installation import own_settings
from pubmill.messages.run_sources import check_graph_sources, run_sources
from pubmill.specs import Specs
from pubmill.specs.study import Study, check_files, check_study, without_demo
from pubmill.stages import Graph
from pubmill.stages.gpus import read_gpus
from pubmill.workflow.bundles import bundle
from pubmill.workflow.requested_targets import check_requested
from pubmill.workflow.rule_syntax import shell_prefix
from pubmill.workflow.run_display import display_of
from pubmill.workflow.snakemake_hooks import before_graph, forget_failed_jobs, ignore_command_texts

COMPILED = ".compiled"
"""Folder below the results of all scales; `make clean` removes it."""
CACHES = {"TORCHINDUCTOR_CACHE_DIR": "torch", "TRITON_CACHE_DIR": "triton"}
"""Environment variables of the folders in which compilers keep kernels for later jobs."""
FAILED_CELLS = 3
"""Exit status of a run whose jobs are all done, but whose tables have cells of failed trainings."""


class Prepared(NamedTuple):
    """What the Snakefile gives to the rules. `graph`: its errors end the run with their plain message.
    `begin`: what a run does before its first job; it returns the lock of the results. `end`: what it does
    after its last."""

    study: Study
    specs: Specs
    graph: Plain
    begin: Callable[[], FileLock]
    end: Callable[[], None]


def _study_settings(workflow: Any, config: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return the configuration; that of another study than the demo, without the demo's own keys. A workflow
    that imports this one as a module gives a complete configuration, which needs no config.yaml."""
    if workflow.modifier.skip_configfile:
        return config
    demo, *own = (load_configfile(path) for path in (root / "config.yaml", *own_settings(root)))
    given = {*chain(*own), *workflow.config_settings.overwrite_config}
    return without_demo(config, demo, given, workflow.configfiles)


@plainly
def prepare(workflow: Any, config: dict[str, Any], root: Path) -> Prepared:
    """Check the configuration in the checkout `root`, and prepare Snakemake for its graph."""
    interrupt_plainly()
    sources = {}
    if workflow.is_main_process:
        check_state_folder(Path.cwd())
        sources = run_sources(root, workflow.configfiles)
    else:  # part of a job, which reads rules and specs again
        check_graph_sources()
    forget_failed_jobs()
    check_files(workflow.configfiles)
    study, specs = check_study(_study_settings(workflow, config, root), root / "specs", workflow.configfiles)
    gpus = read_gpus(root / "specs", root / "benchmarks")
    graph = Graph(study, specs, gpus=gpus)
    left_out: list[str] = []

    def check_graph() -> None:
        """Not needed to read the rules: Snakemake lints a fresh clone, before `make world`."""
        graph.check_files()
        left_out.extend(graph.left_out())

    steps: list[Callable[[], None]] = [
        partial(bundle, workflow),
        check_graph,
        partial(check_requested, workflow, graph, root / "studies"),
    ]
    # A workflow that imports this one as a module has rules of its own, and keeps its own triggers.
    if workflow.modifier.is_main_snakefile():
        steps.append(partial(ignore_command_texts, workflow))
    before_graph(workflow, *steps)
    keep_compiled(Path(study.results))
    own_environments = has_own_environments(workflow, study)
    shell.prefix(shell_prefix(root, own_environments))
    display = display_of(workflow)
    if display:
        display.describe(left_out, lambda: requested_pages(workflow, graph))
    print_left_out = announce_left_out(workflow, [] if display else left_out)

    @plainly
    def begin_run() -> FileLock:
        # Imported here because only a run needs it; it imports the hub's library.
        from pubmill.workflow.run_start import begin, report_compiler, require_torch

        if not own_environments:
            require_torch(workflow)
        lock = begin(workflow, graph, sources)
        if not own_environments:
            report_compiler(workflow)
        print_left_out()
        if display:
            display.mute_jobs()
        return lock

    @plainly
    def end_run() -> None:
        if failed := failed_cells(graph):
            if display:
                display.failed_cells = failed
            else:
                print("\n".join(failed), file=sys.stderr)
            raise SystemExit(FAILED_CELLS)

    return Prepared(study, specs, Plain(graph), begin_run, end_run)


def check_state_folder(folder: Path) -> None:
    """Raise a `PubmillError` if Snakemake cannot keep its state below the working folder."""
    state = folder / ".snakemake"
    if not os.access(state if state.exists() else folder, os.W_OK | os.X_OK):
        raise PubmillError(
            f"{folder} cannot be written to, but Snakemake keeps its state there, in {state.name}, even for "
            f"a plan or with -n. Clone the repository to a folder of your own, or make this one writable"
        )


def requested_pages(workflow: Any, graph: Graph) -> list[str]:
    """Return the pages among the requested files; the report if no file is requested."""
    pages = [str(file) for file in workflow.dag.targetfiles if str(file).endswith(".html")]
    return pages or [graph.paths.report(graph.study.study, "html")]


def keep_compiled(results: Path) -> None:
    """Let jobs keep kernels that are compiled for GPUs below the results, unless the user names a folder."""
    for name, kind in CACHES.items():
        os.environ.setdefault(name, str(results.absolute() / COMPILED / kind))


def has_own_environments(workflow: Any, study: Study) -> bool:
    """Return whether jobs run with a Python other than Snakemake's; a `PubmillError` if there is no image."""
    methods = workflow.deployment_settings.deployment_method
    if DeploymentMethod.APPTAINER in methods and not study.container:
        raise PubmillError(
            "--sdm apptainer: the configuration names no image; set `container:` to a .sif file, or to an "
            "address such as docker://HOST/NAME@sha256:DIGEST (docs/clusters.md)"
        )
    return bool({DeploymentMethod.APPTAINER, DeploymentMethod.CONDA} & set(methods))


def announce_left_out(workflow: Any, lines: list[str]) -> Callable[[], None]:
    """Make the main process print the lines when it ends; return a function that prints them earlier.
    Snakemake calls no hooks in a dry run or in a run with nothing to do. The scheduler exists only after the
    graph is built: if an error stops the run before that, the error stays the last line."""

    def print_lines() -> None:
        """Print each line once: below the jobs of a dry run, else among Snakemake's own messages."""
        while lines:
            print(lines.pop(0), file=sys.stdout if workflow.output_settings.dryrun else sys.stderr)

    if workflow.is_main_process:
        atexit.register(lambda: print_lines() if workflow.scheduler else None)
    return print_lines


def failed_cells(graph: Graph) -> list[str]:
    """Return one line for each cell of the study's finished tables that has a failed training."""
    # Imported here because only the end of a run reads tables.
    from pubmill.tables.cells import NO_RECORD, read_table

    files = {name: Path(graph.paths.table(name, "json")) for name in graph.requests.result_tables()}
    tables = {name: read_table(path) for name, path in files.items() if path.is_file()}
    return [
        f"failed: {name}, {column.label}, {row.label}: {cell.missing}"
        for name, table in tables.items()
        for row, column, cell in table.read()
        if any(seed.failed not in (None, NO_RECORD) for seed in cell.seeds)
    ]
