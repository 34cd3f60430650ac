"""Every file name, and every recipe as resolved for a rule. No torch; fast to import.

A recipe is given to a rule's `params:` as JSON text with sorted keys: it holds what decides the
output's content, so Snakemake reruns a job when, and only when, that changes. Machine paths, the
mirror and the number of cores are therefore never in a recipe.
"""

from pubmill.graph.base import as_json
from pubmill.graph.publication import PublicationTargets
from pubmill.graph.stage_versions import VERSIONS
from pubmill.specs import Specs
from pubmill.specs.study import Study

__all__ = ["VERSIONS", "Targets", "as_json"]


class Targets(PublicationTargets):
    """The artefacts of one study: where each lies, what it is made from, and its recipe."""

    def __init__(self, study: Study, specs: Specs) -> None:
        super().__init__(study, specs)
        self.check_local_files()
        self.check_model_folders()
        self.left_out()  # tells of a mirror that isn't there before any work
        for recipe in self.pretrainings():
            self.shards(specs.pretraining[recipe].corpus)  # tells of missing local files before any work
