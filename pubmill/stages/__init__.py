"""Stages: the inputs, outputs, recipes, versions, resources and costs of all rules, for one study. Imports no
torch, so it loads fast.

A rule receives its recipe in `params:`, as JSON text with sorted keys. The recipe holds all that determines
the content of the output, so Snakemake reruns a job if and only if that changes. A recipe therefore never
holds paths of the machine, the mirror or the number of cores. `pubmill.storage.result_paths` spells paths.

A `Stage` states every property of a rule; `Graph` is their composition, and holds what several of them share.
"""

from pubmill.stages.stage import as_arguments, published_values
from pubmill.stages.study_graph import Graph, checked_graph

__all__ = ["Graph", "as_arguments", "checked_graph", "published_values"]
