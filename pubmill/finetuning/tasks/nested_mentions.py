"""Mentions that may nest and overlap: each run of words is classified (Zhong and Chen 2021; `SpanScores`)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MentionsExample
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.losses import classification_loss
from pubmill.finetuning.span_scores import SpanScores, number_of_runs, runs_of
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.tasks.tokens import words_of_windows
from pubmill.recipes import FinetuningRecipe

NONE = "(none)"
"""Class of a run of words that is no mention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsWindow(Instance):
    """Consecutive words of one sentence; `words`: the number of each word in its sentence."""

    words: list[int]


class NestedMentions(Task[MentionsExample]):
    """A type, or none, for each run of at most `max_mention_length` words.

    A sentence with more subwords than the encoder accepts becomes several windows, and a mention across a cut
    cannot be predicted.
    """

    kind = MentionsExample
    key = "mentions"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[MentionsExample]) -> list[str]:
        """Return `NONE`, then the types in alphabetical order."""
        types = {one.type for example in examples for one in example.mentions}
        if not types:
            raise PubmillError("no training example has a mention to learn; convert the dataset again")
        return [NONE, *sorted(types)]

    def encode(self, examples: Sequence[MentionsExample]) -> Encoded:
        """Return the windows. `counts`: `windows_split`, `words_without_subword`, `words_shortened`, and the
        mentions that cannot be predicted: `mentions_too_long`, `mentions_cut`, and `mentions_of_same_words`,
        which have another type than a mention of the same words."""
        names = ("windows_split", "words_without_subword", "words_shortened")
        counts = dict.fromkeys((*names, "mentions_too_long", "mentions_cut", "mentions_of_same_words"), 0)
        room, windows = self.reader.room(pair=False), list[WordsWindow]()
        sentences = [example.words for example in examples]
        for number, subwords in enumerate(self.reader.subwords_of_words(sentences)):
            cut = words_of_windows([pieces[:room] for pieces in subwords], room)
            counts["windows_split"] += len(cut) > 1
            counts["words_without_subword"] += sum(not pieces for pieces in subwords)
            counts["words_shortened"] += sum(len(pieces) > room for pieces in subwords)
            self._count_mentions(examples[number], cut, counts)
            windows += [self._window(number, words, subwords, room) for words in cut]
        return Encoded(instances=windows, counts=counts)

    def _window(
        self, sentence: int, words: list[int], subwords: Sequence[Sequence[int]], room: int
    ) -> WordsWindow:
        pieces = [list(subwords[word][:room]) for word in words]
        ids, segments = self.reader.framed([one for of in pieces for one in of])
        places, at = list[int](), len(self.reader.one.before)
        for own in pieces:
            places += [at, at + len(own) - 1]
            at += len(own)
        return WordsWindow(example=sentence, ids=ids, segments=segments, places=places, words=words)

    def _count_mentions(
        self, example: MentionsExample, windows: Sequence[Sequence[int]], counts: dict[str, int]
    ) -> None:
        longest = self.recipe.max_mention_length
        places = {word: window for window, words in enumerate(windows) for word in words}
        short = [one for one in example.mentions if one.after - one.first <= longest]
        ends = [(places.get(one.first), places.get(one.after - 1)) for one in short]
        counts["mentions_too_long"] += len(example.mentions) - len(short)
        counts["mentions_cut"] += sum(first is None or first != last for first, last in ends)
        counts["mentions_of_same_words"] += len(short) - len({(one.first, one.after) for one in short})

    def targets(
        self, examples: Sequence[MentionsExample], instances: Sequence[WordsWindow]
    ) -> list[list[float]]:
        """Return the class of each run of words; of several types of the same words the first."""
        targets = []
        for window in instances:
            types = {
                (one.first, one.after - 1): one.type for one in reversed(examples[window.example].mentions)
            }
            kinds = (types.get(run, NONE) for run in self._runs(window))
            targets.append([float(self.places[kind]) for kind in kinds])
        return targets

    def _runs(self, window: WordsWindow) -> list[tuple[int, int]]:
        """Return first and last word, in the sentence, of each run of a window's words."""
        runs = runs_of(len(window.words), self.recipe.max_mention_length).tolist()
        return [(window.words[first], window.words[last]) for first, last in runs]

    def head(self, width: int) -> nn.Module:
        return SpanScores(width, len(self.labels), self.recipe)

    def loss(
        self, model: nn.Module, scores: torch.Tensor, batch: Batch, targets: torch.Tensor
    ) -> torch.Tensor:
        return classification_loss(self.recipe.loss, self.weights)(scores, targets.long())

    def output(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the index of the best class of each run."""
        return scores.argmax(-1)

    def sizes(self, batch: Batch) -> list[int]:
        """Return the number of runs of each window, of whose words each has two encodings."""
        return number_of_runs([count // 2 for count in batch.counts], self.recipe.max_mention_length)

    def probabilities(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the probability of the predicted class of each run."""
        return scores.float().softmax(-1).amax(-1)

    def confidences(
        self,
        examples: Sequence[MentionsExample],
        instances: Sequence[WordsWindow],
        probabilities: Sequence[torch.Tensor],
    ) -> list[float]:
        """Return the lowest probability of a decision on each sentence; 1 for one without words."""
        lowest = [1.0] * len(examples)
        for window, values in zip(instances, probabilities, strict=True):
            lowest[window.example] = min(lowest[window.example], float(values.min()))
        return lowest

    def predictions(
        self,
        examples: Sequence[MentionsExample],
        instances: Sequence[WordsWindow],
        outputs: Sequence[torch.Tensor],
    ) -> list[list[list[int | str]]]:
        """Return the mentions of each sentence, in order."""
        predicted: list[list[tuple[int, int, str]]] = [[] for _ in examples]
        for window, best in zip(instances, outputs, strict=True):
            for (first, last), label in zip(self._runs(window), best.flatten().tolist(), strict=True):
                if label:
                    predicted[window.example].append((first, last + 1, self.labels[int(label)]))
        return [[list(one) for one in sorted(mentions)] for mentions in predicted]
