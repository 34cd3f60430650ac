"""Made-up files of predictions: the scorers equal the literature's own scorers."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.examples.kinds import KINDS, Answer, read_examples, write_examples
from pubmill.metrics.records import read_predictions
from pubmill.metrics.scorers import score_by_all
from pubmill.storage.files import write_jsonl_gz
from tests import scorers
from tests.attack import attack
from tests.world.dice import Dice

Rows = Sequence[dict[str, Any]]
ANSWERS = ("IL-2", "the gene", "gene", "a p53", "P53", "heart disease", "disease of the heart", "an")


class Made(NamedTuple):
    """What examples and predictions have beside their ids, and the scores by the literature's scorers."""

    task: str
    examples: Rows
    predictions: Rows
    scores: Mapping[str, float]
    negative: str | None = None


def _words(dice: Dice) -> Made:
    """Sentences with labels, well formed or not."""
    known = dice.pick([["O", "B", "I"], ["O", "B-A", "I-A", "B-C", "I-C"]])
    sizes = [dice.between(1, 12) for _ in range(dice.between(1, 6))]
    gold = [[dice.pick(known) if dice.chance(0.6) else "O" for _ in range(size)] for size in sizes]
    gold[0][0] = known[1]
    keep = dice.pick([0.5, 0.8, 0.95])
    predicted = [[one if dice.chance(keep) else dice.pick(known) for one in sentence] for sentence in gold]
    bare = [[[label[0] for label in one] for one in sentences] for sentences in (gold, predicted)]
    conlleval = scorers.conlleval(gold, predicted)
    assert abs(conlleval - scorers.seqeval_default(gold, predicted)) < 1e-12, "conlleval and seqeval differ"
    expected = {
        "entity_f1": conlleval,
        "seqeval_0_0_12_f1": scorers.seqeval_0_0_12(gold, predicted),
        "entity_f1_untyped": scorers.conlleval(*bare),
    }
    examples = [{"words": ["w"] * len(labels), "labels": labels} for labels in gold]
    return Made("ner", examples, [{"labels": labels} for labels in predicted], expected)


def _relations(dice: Dice) -> Made:
    """Relations with a label for nothing, as in ChemProt and DDI, or with two labels, as in GAD."""
    positives = dice.pick([["1"], ["CPR:3", "CPR:4", "CPR:9"]])
    negative = "0" if len(positives) == 1 else "false"
    known = [*positives, negative, negative]
    gold = [positives[0], negative, *(dice.pick(known) for _ in range(dice.between(1, 40)))]
    keep = dice.pick([0.3, 0.7, 0.95])
    predicted = [one if dice.chance(keep) else dice.pick(known) for one in gold]
    micro = scorers.positive_micro(gold, predicted, positives)
    for other in (scorers.blue_relations, scorers.linkbert_prf1):
        assert abs(micro - other(gold, predicted, negative)) < 1e-12, f"bio-lm and {other.__name__} differ"
    expected = {
        "micro_f1": micro,
        "macro_f1": scorers.sklearn_f1(gold, predicted, "macro", None),
        "macro_f1_positive": scorers.sklearn_f1(gold, predicted, "macro", negative),
        "weighted_f1": scorers.sklearn_f1(gold, predicted, "weighted", None),
    }
    if len(positives) == 1:
        expected["positive_f1"] = scorers.sklearn_f1(gold, predicted, "micro", negative)
    return Made("relation", *_labelled(gold, predicted), expected, negative)


def _yes_no(dice: Dice) -> Made:
    gold = [dice.pick(["yes", "yes", "no"]) for _ in range(dice.between(1, 30))]
    predicted = [one if dice.chance(0.6) else dice.pick(["yes", "no"]) for one in gold]
    right = sum(a == b for a, b in zip(gold, predicted, strict=True))
    return Made("yes-no", *_labelled(gold, predicted), {"accuracy": right / len(gold)})


def _labelled(gold: Sequence[str], predicted: Sequence[str]) -> tuple[Rows, Rows]:
    return [{"text": "t", "label": label} for label in gold], [{"label": label} for label in predicted]


def _hallmarks(dice: Dice) -> Made:
    """Documents with a set of labels each, as in HoC of BLUE."""
    known = ["a", "b", "c", "d"]
    gold = [{dice.pick(known), dice.pick(known)} for _ in range(dice.between(1, 15))]
    gold.append({known[0], known[1]})  # scikit-learn takes documents with only one label for a binary task
    predicted = [
        {label for label in known if dice.chance(0.8 if label in labels else 0.1)} for labels in gold
    ]
    occurring = sorted(set().union(*gold, *predicted))
    true, guessed = (scorers.indicators(one, occurring) for one in (gold, predicted))
    expected = {
        "example_f1": scorers.blue_hoc(gold, predicted),
        "micro_f1": scorers.linkbert_hoc(true, guessed),
        "macro_f1": scorers.sklearn_label_sets(true, guessed, "macro"),
    }
    examples = [{"text": "t", "labels": sorted(labels)} for labels in gold]
    return Made("classification", examples, [{"labels": sorted(labels)} for labels in predicted], expected)


def _questions(dice: Dice) -> Made:
    """Factoid questions with synonyms, and up to seven ranked answers."""
    number = dice.between(1, 12)
    golds = [dice.sample(ANSWERS, dice.between(1, 3)) for _ in range(number)]
    ranked = [dice.sample(ANSWERS, dice.between(1, 7)) for _ in range(number)]
    distinct = [list({answer.lower(): answer for answer in reversed(one)}.values())[::-1] for one in ranked]
    bioasq = [scorers.bioasq_factoid(*pair) for pair in zip(golds, distinct, strict=True)]
    squad = [scorers.squad(gold, answers[0]) for gold, answers in zip(golds, distinct, strict=True)]
    names = ("strict_accuracy", "lenient_accuracy", "mrr", "exact_match", "f1")
    found = zip(*(a + b for a, b in zip(bioasq, squad, strict=True)), strict=True)
    expected = {name: sum(values) / number for name, values in zip(names, found, strict=True)}
    examples = [
        {"question": "?", "context": gold[0], "golds": gold, "answers": [Answer(text=gold[0], start=0)]}
        for gold in golds
    ]
    shown = [
        [{"text": text, "probability": 1 / rank} for rank, text in enumerate(answers, 1)]
        for answers in distinct
    ]
    return Made("factoid", examples, [{"answers": answers} for answers in shown], expected)


def _pairs(dice: Dice) -> Made:
    gold = [0.0, 4.0, *(dice.between(0, 20) / 5 for _ in range(dice.between(1, 20)))]
    predicted = [value + dice.between(-9, 9) / 4 for value in gold]
    predicted[0] = -9.5
    examples = [{"text": "t", "text_pair": "u", "score": value} for value in gold]
    expected = {"pearson": scorers.pearson(gold, predicted)}
    return Made("similarity", examples, [{"score": value} for value in predicted], expected)


MAKERS = (
    ("tokens", _words), ("sequence", _relations), ("sequence", _yes_no), ("multilabel", _hallmarks),
    ("span", _questions), ("regression", _pairs),
)  # fmt: skip


@attack("scorers", cases=10_000, quick=60)
def equal(dice: Dice, folder: Path) -> str:
    """Made-up files of predictions of every kind, with labels that are not well formed: equal to conlleval,
    seqeval, seqeval 0.0.12, scikit-learn and the rules of BLUE, bio-lm, LinkBERT, BioASQ and SQuAD."""
    kind, make = dice.pick(MAKERS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, about labels that do not occur
        made = make(dice)
    examples = [KINDS[kind](id=f"e{n}", document=None, **one) for n, one in enumerate(made.examples)]
    write_examples(folder / "test.jsonl.gz", examples)
    lines = ({"id": f"e{n}", **one} for n, one in enumerate(made.predictions))
    write_jsonl_gz(folder / "predictions.jsonl.gz", lines)
    gold = list(read_examples(folder / "test.jsonl.gz", KINDS[kind]))
    predicted = read_predictions(folder / "predictions.jsonl.gz", gold)
    found = {
        one.scorer.name: one.score for one in score_by_all(kind, made.task, gold, predicted, made.negative)
    }
    return "".join(
        f"{name} is {found[name]}, not {value}; "
        for name, value in made.scores.items()
        if found[name] is None or abs((found[name] or 0.0) - value) > 1e-9
    )
