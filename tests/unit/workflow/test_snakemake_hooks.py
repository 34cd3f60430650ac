"""What pubmill replaces in Snakemake is still there, in the version that is pinned."""

from types import SimpleNamespace

import pytest
from snakemake.settings.enums import RerunTrigger

from pubmill.errors import PubmillError
from pubmill.workflow.snakemake_hooks import before_graph, ignore_command_texts


def test_steps_come_before_the_graph_and_an_error_ends_the_run_plainly() -> None:
    called: list[str] = []
    workflow = SimpleNamespace(_build_dag=lambda: called.append("graph"))
    before_graph(workflow, lambda: called.append("one"), lambda: called.append("two"))
    assert called == []
    workflow._build_dag()
    assert called == ["one", "two", "graph"]

    def fail() -> None:
        raise PubmillError("no such file")

    workflow = SimpleNamespace(_build_dag=lambda: called.append("built"))
    before_graph(workflow, fail)
    with pytest.raises(SystemExit, match="pubmill: error: no such file"):
        workflow._build_dag()
    assert "built" not in called


def test_the_text_of_a_command_reruns_nothing_but_other_changes_do() -> None:
    workflow = SimpleNamespace(dag_settings=SimpleNamespace(rerun_triggers=frozenset(RerunTrigger)))
    ignore_command_texts(workflow)
    assert workflow.dag_settings.rerun_triggers == set(RerunTrigger) - {RerunTrigger.CODE}
