"""What pubmill replaces in Snakemake is still there, in the version that is pinned."""

import inspect
from types import SimpleNamespace

from snakemake.api import Workflow
from snakemake.jobs import Job
from snakemake.persistence import PersistenceBase
from snakemake.settings.enums import RerunTrigger
from snakemake.settings.types import DAGSettings

from pubmill.workflow.snakemake_hooks import ignore_command_texts


def test_snakemake_has_the_methods_that_are_replaced() -> None:
    """When a new Snakemake fails here: look in `Workflow` for the method that its commands call between
    setting `dag_settings` and building the graph, and let `before_graph` replace that one; look in
    `Job.postprocess` for the call that records a finished job (`forget_failed_jobs`), and drop that if
    https://github.com/snakemake/snakemake/issues/3808 is closed."""
    assert list(inspect.signature(Workflow._build_dag).parameters) == ["self"]
    assert "error" in inspect.signature(Job.postprocess).parameters
    assert list(inspect.signature(PersistenceBase.finished).parameters) == ["self", "job"]
    assert "rerun_triggers" in inspect.signature(DAGSettings).parameters


def test_the_text_of_a_command_reruns_nothing_but_other_changes_do() -> None:
    workflow = SimpleNamespace(dag_settings=SimpleNamespace(rerun_triggers=frozenset(RerunTrigger)))
    ignore_command_texts(workflow)
    assert workflow.dag_settings.rerun_triggers == set(RerunTrigger) - {RerunTrigger.CODE}
