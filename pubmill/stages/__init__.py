"""Stages: recipe, version, resources and cost of each rule, and inputs that depend on specs, for one study.
The rule has the outputs and the command. Imports no torch, so it loads fast.

A rule receives its recipe in `params:`, as JSON text with sorted keys. A job reruns if its inputs, its recipe
or its version changes, so a recipe never holds a path of the machine, the mirror or the number of cores.

A `Stage` states every property of a rule; `Graph` is their composition, and holds what several of them share.
"""

from pubmill.stages.stage import as_arguments, published_values
from pubmill.stages.study_graph import Graph, checked_graph

__all__ = ["Graph", "as_arguments", "checked_graph", "published_values"]
