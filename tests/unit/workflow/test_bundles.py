"""What bundles replace in Snakemake is still there, in the version that is pinned.

tests/workflow/test_slurm.py has their behaviour on a cluster.
"""

import inspect

import snakemake.api  # noqa: F401 (before its parts, which import each other)
from snakemake.dag import DAG
from snakemake.jobs import GroupJob
from snakemake.persistence.file import FilePersistence
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.settings.types import ExecutionSettings

from pubmill.workflow import bundles


def test_snakemake_has_what_bundles_replace_and_call() -> None:
    """When a new Snakemake fails here: read `JobScheduler._handle_error`, `DAG.finish` and `GroupJob`.

    If a failed group no longer deletes the outputs of its finished jobs, drop that part of bundles.py.
    """
    assert list(inspect.signature(bundles._handle_error).parameters) == ["self", "job", "postprocess_job"]
    assert "running" in inspect.getsource(JobScheduler.__init__)
    assert list(inspect.signature(GroupJob).parameters) == ["id", "jobs", "global_resources"]
    assert {"_resources", "_attempt", "_jobs"} <= set(GroupJob.__slots__)
    assert "_running.remove(job)" in inspect.getsource(DAG.finish)
    assert "self._group = groups" in inspect.getsource(DAG.update_groups)
    assert callable(FilePersistence._clear_cache) and callable(FilePersistence._filter_incomplete_keys)
    assert ExecutionSettings().keep_going is False
