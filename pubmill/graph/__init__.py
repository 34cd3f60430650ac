"""The inputs, outputs and recipes of all rules, for one study. Imports no torch, so it loads fast.

A rule receives its recipe in `params:`, as JSON text with sorted keys. The recipe holds all that determines
the content of the output, so Snakemake reruns a job if and only if that changes. A recipe therefore never
holds paths of the machine, the mirror or the number of cores. `pubmill.storage.result_paths` spells paths.

`Graph` holds one part for each stage; each part is constructed from only what it needs.
"""

from pubmill.graph.headings import published_values
from pubmill.graph.params_text import as_arguments
from pubmill.graph.stage_versions import VERSIONS
from pubmill.graph.study_graph import Graph, checked_graph

__all__ = ["VERSIONS", "Graph", "as_arguments", "checked_graph", "published_values"]
