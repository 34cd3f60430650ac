"""Recipes of scoring."""

from pubmill.recipes.recipe_types import Kind, StrictRecipe


class ScoringRecipe(StrictRecipe):
    """The input of scoring besides the predictions.

    - `kind`: the kind of examples; `metric`: the main metric; `negative`: the label that micro F1 ignores, if
      any.
    - `versions`: stage versions (several numbers where code and spec each have one).
    - `made_by`: digest of the recipes and stage versions of scoring, predictions, dataset and model; empty
      outside the graph.
    """

    model: str
    dataset: str
    protocol: str
    setting: str
    scale: str
    seed: int
    split: str
    kind: Kind
    metric: str
    negative: str | None = None
    versions: dict[str, int | list[int]]
    made_by: str = ""
