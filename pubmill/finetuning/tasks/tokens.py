"""Words with labels: entities and PICO elements (gu2020 section 5.2; shin2020 section 5.1).

A sentence of more subwords than the encoder takes becomes several windows, cut between words, so that
every word is seen and predicted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from pubmill.errors import PubmillError
from pubmill.examples import TokensExample
from pubmill.finetuning.heads import by_instance
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.scores import entity_f1
from pubmill.finetuning.tasks.base import Task
from pubmill.recipes import FinetuningRecipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Instance):
    """Consecutive words of one sentence; `words`: the word in the sentence that each place belongs to."""

    words: list[int]


class Tokens(Task[TokensExample]):
    """One label a word, predicted at its first subword; learnt there or at all of its subwords."""

    kind = TokensExample
    key = "labels"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[TokensExample]) -> list[str]:
        """O first, the others in alphabetical order."""
        found = {label for example in examples for label in example.labels} - {"O"}
        if not found:
            raise PubmillError("no training example has an entity to learn from; convert the dataset again")
        return ["O", *sorted(found)]

    def encode(self, examples: Sequence[TokensExample]) -> Encoded:
        room = self.reader.room(pair=False)
        windows: list[Window] = []
        counts = {"windows_split": 0, "words_without_subword": 0, "words_shortened": 0}
        sentences = [example.words for example in examples]
        for number, subwords in enumerate(self.reader.subwords_of_words(sentences)):
            counts["words_without_subword"] += sum(not pieces for pieces in subwords)
            counts["words_shortened"] += sum(len(pieces) > room for pieces in subwords)
            cut = self._windows(number, [pieces[:room] for pieces in subwords], room)
            counts["windows_split"] += len(cut) > 1
            windows += cut
        return Encoded(instances=windows, counts=counts)

    def _windows(self, sentence: int, subwords: list[list[int]], room: int) -> list[Window]:
        """Fill one window after another with whole words."""
        fillings: list[list[int]] = []
        filled = room
        for word, pieces in enumerate(subwords):
            if not pieces:
                continue
            if filled + len(pieces) > room:
                fillings.append([])
                filled = 0
            fillings[-1].append(word)
            filled += len(pieces)
        return [self._window(sentence, words, subwords) for words in fillings]

    def _window(self, sentence: int, words: list[int], subwords: list[list[int]]) -> Window:
        ids, segments = self.reader.framed([piece for word in words for piece in subwords[word]])
        places: list[int] = []
        at = len(self.reader.one.before)
        for word in words:
            places.append(at)
            at += len(subwords[word])
        return Window(example=sentence, ids=ids, segments=segments, places=places, words=words)

    def targets(self, examples: Sequence[TokensExample], instances: Sequence[Window]) -> list[list[float]]:
        return [
            [self.places[examples[window.example].labels[word]] for word in window.words] for window in instances
        ]

    def loss(self, model: nn.Module, scores: torch.Tensor, batch: Batch, targets: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(scores, targets.long())

    def outputs(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> list[torch.Tensor]:
        """The best label's number at each place."""
        return by_instance(scores.argmax(-1).cpu(), batch.counts)

    def predictions(
        self, examples: Sequence[TokensExample], instances: Sequence[Window], outputs: Sequence[torch.Tensor]
    ) -> list[list[str]]:
        """Labels of every word; words that no subword stands for are "O"."""
        predicted = [["O"] * len(example.words) for example in examples]
        for window, best in zip(instances, outputs, strict=True):
            for word, label in zip(window.words, best.tolist(), strict=True):
                predicted[window.example][word] = self.labels[label]
        return predicted

    def dev_score(self, examples: Sequence[TokensExample], predictions: Sequence[list[str]]) -> float:
        gold = [example.labels for example in examples]
        if self.recipe.metric == "entity_f1":
            return entity_f1(gold, predictions)
        raise self.cannot(self.recipe.metric, ["entity_f1"])

    def constant(self, predictions: Sequence[list[str]]) -> bool:
        """One label for all words of all sentences."""
        return len({label for labels in predictions for label in labels}) == 1
