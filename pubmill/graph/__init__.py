"""The inputs, outputs and recipes of all rules, for one study. Imports no torch, so it loads fast.

A rule receives its recipe in `params:`, as JSON text with sorted keys. The recipe holds all that determines
the content of the output, so Snakemake reruns a job if and only if that changes. A recipe therefore never
holds paths of the machine, the mirror or the number of cores. `pubmill.storage.result_paths` spells paths.
"""

from pubmill.graph.base import as_json
from pubmill.graph.publication import PublicationTargets
from pubmill.graph.stage_versions import VERSIONS
from pubmill.specs import Specs
from pubmill.specs.study import Study

__all__ = ["VERSIONS", "Targets", "as_json"]


class Targets(PublicationTargets):
    """The artefacts of one study: the path, inputs and recipe of each."""

    def __init__(self, study: Study, specs: Specs) -> None:
        super().__init__(study, specs)
        self.check_local_files()
        self.check_model_folders()
        self.left_out()  # reports a missing mirror before any job runs
        for recipe in self.pretrainings():
            self.shards(specs.pretraining[recipe].corpus)  # reports missing local files before any job runs
