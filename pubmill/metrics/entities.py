"""Entity-level precision, recall and F1 of BIO labels, micro-averaged: seqeval's default mode.

Which words form an entity is decided by seqeval 1.2.2's `get_entities`, which follows the CoNLL-2000
script `conlleval.pl` and is what LinkBERT's code for BLURB scores with:

- An entity is (type, first word, last word); labels without a type share one type.
- B always begins an entity. An I with no entity of its type right before it (after O, at the start
  of a sentence, after another type) isn't an error but begins one too; so `I I` after O is one
  entity, and a prediction `O I I` of the gold `O B I` is correct.
- Entities end with their sentence.
"""

from collections.abc import Sequence

from seqeval.metrics.sequence_labeling import get_entities

from pubmill.errors import PubmillError

Labels = Sequence[Sequence[str]]


def score_entities(gold: Labels, predicted: Labels) -> tuple[dict[str, float], dict[str, int]]:
    """Score predicted BIO labels of sentences (one label a word) against the gold ones.

    Returns the metrics `entity_f1`, `entity_precision`, `entity_recall`, each within 0..1, and the
    counts `gold`, `predicted`, `correct` (entities; correct means same sentence, words and type)
    and `examples` (sentences). A ratio without a denominator is 0, as in seqeval.
    """
    if [len(labels) for labels in gold] != [len(labels) for labels in predicted]:
        raise PubmillError("gold and predicted labels differ in their number of sentences or words")
    gold_entities, predicted_entities = _entities(gold), _entities(predicted)
    correct = len(gold_entities & predicted_entities)
    metrics = {
        "entity_f1": _ratio(2 * correct, len(gold_entities) + len(predicted_entities)),
        "entity_precision": _ratio(correct, len(predicted_entities)),
        "entity_recall": _ratio(correct, len(gold_entities)),
    }
    counts = {
        "gold": len(gold_entities),
        "predicted": len(predicted_entities),
        "correct": correct,
        "examples": len(gold),
    }
    return metrics, counts


def _entities(sentences: Labels) -> set[tuple[str, int, int]]:
    """(type, first, last) with positions in the whole text; seqeval puts an O after each sentence."""
    return set(get_entities([list(labels) for labels in sentences]))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
