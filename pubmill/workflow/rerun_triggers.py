"""Rerun jobs when their inputs, recipes or software changed, not when only the text of a command did."""

from typing import Any

from snakemake.settings.enums import RerunTrigger


def ignore_command_texts(workflow: Any) -> None:
    """Leave the texts of rules out of what reruns their jobs.

    They are code, and code reruns a job only with a new version of its stage, which its recipe contains. A
    workflow that imports this one as a module has rules of its own, and keeps its own triggers.

    The settings of the command line reach the workflow only after its Snakefile is read, so they are changed
    before the method that builds the graph; Snakemake's version is pinned.
    """
    if not workflow.modifier.is_main_snakefile():
        return
    build = workflow._build_dag

    def build_without_texts() -> None:
        settings = workflow.dag_settings
        settings.rerun_triggers = frozenset(settings.rerun_triggers) - {RerunTrigger.CODE}
        build()

    workflow._build_dag = build_without_texts
