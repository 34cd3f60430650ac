"""Steps before Snakemake builds its graph.

The settings and targets of a command line reach the workflow only after its Snakefile is read, and Snakemake
has no hook between that and its graph. So its method `Workflow._build_dag` is replaced: its version is
pinned, and tests/unit/workflow/test_snakemake_hooks.py says what to do when a new one has no such method.
"""

from collections.abc import Callable
from typing import Any

from snakemake.settings.enums import RerunTrigger

from pubmill.errors import plainly
from pubmill.workflow.snakemake_speed import speed_up, without_collection


def before_graph(workflow: Any, *steps: Callable[[], None]) -> None:
    """Make Snakemake call some functions before it builds its graph; their errors end the run plainly."""
    speed_up()
    build = workflow._build_dag

    def build_after_steps() -> None:
        for step in steps:
            plainly(step)()
        with without_collection():
            build()

    workflow._build_dag = build_after_steps


def ignore_command_texts(workflow: Any) -> None:
    """Leave the texts of rules out of what reruns their jobs. They are code, and code reruns a job only with
    a new version of its stage, which is a parameter."""
    settings = workflow.dag_settings
    settings.rerun_triggers = frozenset(settings.rerun_triggers) - {RerunTrigger.CODE}
