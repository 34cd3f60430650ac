"""Digests of how records are made: over all recipes and stage versions behind them.

A record that no job of the study makes is shown in a table only if it is by the present recipes: the digest
that it was scored with is that of now. Snakemake cannot tell, because it knows nothing of records that it did
not make or that no target asks for. No digest depends on where files are, or on the content of files.
"""

import hashlib
from types import SimpleNamespace
from typing import TYPE_CHECKING

from pubmill.recipes.writing import as_json
from pubmill.stages.all_stages import stages
from pubmill.stages.pipelines import OFF_THE_SHELF, ScoreAnnotation
from pubmill.stages.run_stages import Score
from pubmill.stages.stage import GraphPart, Origin
from pubmill.stages.supplied_predictions import SCORE_SUPPLIED
from pubmill.storage.result_paths import RunKey

if TYPE_CHECKING:
    from pubmill.stages.study_graph import Graph


class RecordDigests(GraphPart):
    """Digests of jobs: a walk from each over the jobs behind it."""

    def __init__(self, graph: "Graph") -> None:
        super().__init__(graph)
        self._digests: dict[tuple[str, ...], str] = {}

    def made_by(self, run: RunKey) -> str:
        """Return the digest of the recipes and stage versions behind the records of a run, whatever their
        seed."""
        if run.protocol != OFF_THE_SHELF:
            return self.digest(Origin(Score, run._asdict()))
        if run.model in self.graph.pipelines.supplied.names():
            return self.digest(
                Origin(stages()[SCORE_SUPPLIED], {"submission": run.model, "dataset": run.dataset})
            )
        return self.digest(Origin(ScoreAnnotation, {"pipeline": run.model, "dataset": run.dataset}))

    def digest(self, job: Origin) -> str:
        """Return the digest of a job: of its version, its recipe and the jobs behind it."""
        key = (job.stage.name, *job.names.values())
        if key not in self._digests:
            stage, wildcards = self.graph.stage(job.stage), SimpleNamespace(**job.names)
            behind = [self.digest(one) for one in stage.behind(wildcards)]
            content = [job.stage.name, stage.version_of(wildcards), stage.described(wildcards), behind]
            self._digests[key] = hashlib.sha256(as_json(content).encode()).hexdigest()
        return self._digests[key]
