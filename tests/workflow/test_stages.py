"""The stages that displays and reports show, against the rules of Snakemake's own graph."""

import re

from pubmill.messages.stages import READS, STAGES, TARGET, stage_of
from tests.workflow.conftest import Project

DIAGNOSES = {("convert", "select"), ("convert", "vocabulary")}
"""Reports on texts of datasets in a corpus and on words of datasets in a vocabulary."""


def read_by(stage: str) -> set[str]:
    """All stages that a stage reads, directly or not."""
    return {one for source in READS.get(stage, ()) for one in (source, *read_by(source))}


def test_the_order_of_stages_is_that_of_the_graph(project: Project) -> None:
    graph = project.run("--rulegraph").stdout
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', graph))
    edges = {(names[one], names[other]) for one, other in re.findall(r"(\d+) -> (\d+)", graph)}
    found = {(stage_of(one), stage_of(other)) for one, other in edges if other != TARGET}
    found = {(one, other) for one, other in found if one != other}
    assert len(found) > 20
    assert {(one, other) for one, other in found if one not in read_by(other)} <= DIAGNOSES
    # the demo annotates nothing with finished systems
    drawn = {
        (one, stage) for stage, reads in READS.items() for one in reads if "annotate" not in (one, stage)
    }
    assert drawn <= found and set(READS) < set(STAGES)
