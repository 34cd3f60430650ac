"""Precision, recall and F1 of relations between the concepts of documents, as the official scorers count.

The relations of a document are a set. A predicted one is correct if the document has it. The metrics are
micro-averaged over all relations of all documents, including those of concepts without mentions, as by
BioCreative V (chemical-induced diseases: Wei et al. 2016, baw032), DrugProt's library (relations of mentions)
and BioRED's `run_biored_eval.py` (four levels: with or without label, with or without novelty). Two concepts
in either order are one pair, unless the document has pairs in both orders.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from pubmill.examples.kinds import RelationsExample
from pubmill.metrics.contributions import Scored, units_of
from pubmill.metrics.registry import (
    COUNTERS,
    COUNTS,
    Metric,
    f1_of,
    precision_of,
    recall_of,
    register,
    scored,
    totals_named,
    where_any,
)

Relation = Sequence[str]
"""Two concepts, a label and, if it is known, the novelty."""
LEVELS = {"": (0, 1, 2), "pair_": (0, 1), "novelty_": (0, 1, 2, 3), "pair_novelty_": (0, 1, 3)}
"""Prefix of the totals of a level -> indices of the elements of `Relation` that it compares."""


def score_relations(examples: Sequence[RelationsExample], predicted: Sequence[Sequence[Relation]]) -> Scored:
    """Score the relations of documents at all `LEVELS`. A ratio without a denominator is 0; novelty is not
    scored where the gold does not state it. Counts: `gold`, `predicted`, `correct` and `examples`."""
    columns: dict[str, list[float]] = {"examples": [1.0] * len(examples), "with_novelty": []}
    columns |= {prefix + count: [] for prefix in LEVELS for count in COUNTS}
    for example, relations in zip(examples, predicted, strict=True):
        gold = example.relations
        columns["with_novelty"].append(float(any(len(one) > 3 for one in gold)))
        oriented = [_oriented(one, example.pairs) for one in relations]
        for prefix, parts in LEVELS.items():
            both = [_parts(side, parts) for side in (gold, oriented)]
            for count, value in zip(COUNTS, (*both, both[0] & both[1]), strict=True):
                columns[prefix + count].append(float(len(value)))
    return scored("relations", columns, units_of(examples).numbers)


def _oriented(relation: Relation, pairs: Sequence[Sequence[str]]) -> Relation:
    """Return a relation with its concepts in the order of the document's pair."""
    first, second, *rest = relation
    other_way = [first, second] not in pairs and [second, first] in pairs
    return [second, first, *rest] if other_way else relation


def _parts(relations: Iterable[Relation], parts: Sequence[int]) -> set[tuple[str, ...]]:
    return {tuple(one[part] for part in parts if part < len(one)) for one in relations}


COUNTERS["relations"] = totals_named(*COUNTS, "examples")
_metric = partial(Metric, kinds=("relations",), version=1)
register(
    _metric("relation_f1", "relation F1",
            "F1 over the relations of documents, each a pair of concepts with its label",
            "Wei et al. 2016 (BC5CDR); DrugProt's evaluation library; BioRED's `run_biored_eval.py`",
            f1_of(), chooses=f1_of()),
    _metric("relation_precision", "relation precision",
            "share of the predicted relations that the document has", "as `relation_f1`", precision_of()),
    _metric("relation_recall", "relation recall", "share of the relations that are found",
            "as `relation_f1`", recall_of()),
    _metric("relation_pair_f1", "F1 of related pairs",
            "F1 over the related pairs of concepts, whatever their labels",
            "BioRED's `run_biored_eval.py`, `to_binary`", f1_of("pair_")),
    _metric("relation_novelty_f1", "relation F1 with novelty",
            "F1 over relations whose label and novelty are right; only where novelty is annotated",
            "BioRED's `run_biored_eval.py`, `has_novelty`", where_any("with_novelty", f1_of("novelty_"))),
    _metric("relation_pair_novelty_f1", "F1 of related pairs with novelty",
            "F1 over related pairs whose novelty is right, whatever their labels",
            "BioRED's `run_biored_eval.py`, `to_binary` and `has_novelty`",
            where_any("with_novelty", f1_of("pair_novelty_"))),
)  # fmt: skip
