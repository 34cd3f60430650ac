"""Nested mentions: which runs of words are classified, from what, and that they can be learnt."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from pubmill.examples.kinds import MentionsExample, WordSpan
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.nested_mentions import NONE, NestedMentions, runs_of
from tests.unit.toy_tasks import OURS

RECIPE = replace(OURS["nested mentions"], head_dropout=0.0, max_mention_length=2)
CPU = torch.device("cpu")


def task(model: Path, max_length: int = 24) -> NestedMentions:
    reader = Reader(AutoTokenizer.from_pretrained(model), max_length, "single")
    return NestedMentions(RECIPE, reader, [NONE, "A", "B"])


def sentence(words: str, *mentions: tuple[int, int, str], name: str = "1") -> MentionsExample:
    found = [WordSpan(*one) for one in mentions]
    return MentionsExample(id=name, document=None, words=words.split(), mentions=found)


def test_classes_are_none_and_the_types_and_runs_of_words_all_that_are_short_enough() -> None:
    examples = [sentence("ba co", (0, 1, "b")), sentence("ba", (0, 1, "a"))]
    assert NestedMentions.labels_of(RECIPE, examples) == [NONE, "a", "b"]
    assert runs_of(3, 2).tolist() == [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2]]
    assert runs_of(1, 8).tolist() == [[0, 0]]


def test_runs_are_targets_and_predictions_and_nested_mentions_stay(tiny: Path) -> None:
    """A word is read at its first and last subword; a mention in a later window has its words."""
    nested = sentence("ba coba di", (0, 1, "A"), (0, 2, "B"), (1, 2, "A"))
    for length, one, windows in ((24, nested, 1), (5, sentence("ba co di fu ge", (3, 5, "A")), 2)):
        of = task(tiny, length)
        instances: Any = of.encode([one]).instances
        targets = of.targets([one], instances)
        if one is nested:
            assert instances[0].places == [1, 1, 2, 3, 4, 4] and targets == [[1.0, 2.0, 1.0, 0.0, 0.0]]
            assert of.sizes(collate(instances, 0, CPU)) == [5]
        outputs = [torch.tensor(own) for own in targets]
        assert len(instances) == windows
        assert of.predictions([one], instances, outputs) == [
            [[m.first, m.after, m.type] for m in one.mentions]
        ]


def test_mentions_that_cannot_be_predicted_are_counted(tiny: Path) -> None:
    one = sentence("ba co di fu", (0, 2, "A"), (0, 2, "B"), (0, 3, "A"), (2, 4, "B"))
    counts = task(tiny).encode([one]).counts
    assert (counts["mentions_too_long"], counts["mentions_of_same_words"]) == (1, 1)
    assert counts["mentions_cut"] == counts["windows_split"] == 0
    counts = task(tiny, max_length=5).encode([one]).counts
    assert (counts["mentions_cut"], counts["windows_split"]) == (1, 1)


def test_the_best_class_of_a_run_is_predicted_with_its_probability(tiny: Path) -> None:
    of = task(tiny)
    [window] = of.encode([sentence("ba co")]).instances
    batch, head = collate([window], 0, CPU), torch.nn.Identity()
    shares = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.7, 0.2], [0.25, 0.35, 0.4]])
    assert of.output(head, shares.log(), batch).tolist() == [0, 1, 2]
    assert of.probabilities(head, shares.log(), batch).tolist() == pytest.approx([0.5, 0.7, 0.4])


def test_a_sentence_is_as_sure_as_its_least_sure_run(tiny: Path) -> None:
    """Over all of its windows; one without words has nothing to be unsure of."""
    of = task(tiny, max_length=5)
    examples = [sentence("ba co di fu ge"), sentence("", name="2"), sentence("lo", name="3")]
    instances: Any = of.encode(examples).instances
    assert [window.example for window in instances] == [0, 0, 2]
    sure = [torch.tensor([0.9, 0.8, 0.6]), torch.tensor([0.7, 0.95, 0.65]), torch.tensor([0.25])]
    assert of.confidences(examples, instances, sure) == pytest.approx([0.6, 1.0, 0.25])
    sure = sure[1:2] + sure[0:1] + sure[2:]
    assert of.confidences(examples, instances, sure) == pytest.approx([0.6, 1.0, 0.25])


def test_words_that_cannot_be_read_whole_are_counted(tiny: Path) -> None:
    """A word of more subwords than an input is cut; one without any is in no window."""
    of = task(tiny, max_length=5)
    one = sentence("bacodi bacodifu \u200d ge", (1, 2, "A"), (2, 3, "B"))
    encoded = of.encode([one])
    windows: Any = encoded.instances
    assert [window.words for window in windows] == [[0, 0], [1, 1], [3, 3]]
    assert [len(window.ids) for window in windows] == [5, 5, 3]
    assert encoded.counts == {
        "windows_split": 1, "words_without_subword": 1, "words_shortened": 1, "mentions_too_long": 0,
        "mentions_cut": 1, "mentions_of_same_words": 0,
    }  # fmt: skip
