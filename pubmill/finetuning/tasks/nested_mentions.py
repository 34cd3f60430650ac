"""Mentions that may nest and overlap: each run of words is classified (Zhong and Chen 2021; `SpanScores`)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MentionsExample
from pubmill.finetuning.heads import Layers
from pubmill.finetuning.inputs import Batch, Encoded
from pubmill.finetuning.tasks.task import Classification, Parts
from pubmill.finetuning.tasks.tokens import SentenceWindow, encode_sentences
from pubmill.hardware.torch_setup import to_device
from pubmill.recipes import FinetuningRecipe

NONE = "(none)"
"""Class of a run of words that is no mention."""
LENGTH_SIZE = 150
"""Size of the embedding of a run's length (`width_embedding_dim`)."""


class SpanScores(nn.Module):
    """Scores of each run of at most `longest` words: layers on the encodings of its first and last subword
    and an embedding of its length, as in PURE (princeton-nlp/PURE@b1e9cad entity/models.py), whose layers are
    `head: mlp` with `head_sizes: [150, 150]`."""

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        self.longest = recipe.max_mention_length
        self.lengths = nn.Embedding(self.longest, LENGTH_SIZE)
        nn.init.normal_(self.lengths.weight, std=0.02)
        self.layers = Layers(2 * width + LENGTH_SIZE, outputs, recipe)

    def forward(self, places: Tensor, batch: Batch) -> Tensor:
        """Return the scores, runs x outputs. `places`: first and last subword of each word."""
        words = [count // 2 for count in batch.counts]
        starts = np.cumsum(words) - words
        counted = zip(starts, words, strict=True)
        runs = np.concatenate([start + runs_of(count, self.longest) for start, count in counted])
        first, last = (to_device(torch.from_numpy(side.copy()), places.device) for side in runs.T)
        parts = (places[2 * first], places[2 * last + 1], self.lengths(last - first).to(places))
        scores: Tensor = self.layers(torch.cat(parts, -1), batch)
        return scores


def runs_of(words: int, longest: int) -> npt.NDArray[np.int64]:
    """Return first and last word of each run of at most `longest` of a sentence's words, in order."""
    first = np.repeat(np.arange(words), longest)
    last = first + np.tile(np.arange(longest), words)
    runs = np.stack([first, last], 1)
    return runs[last < words]


class NestedMentions(Classification[MentionsExample]):
    """A type, or none, for each run of at most `max_mention_length` words. A sentence with more subwords than
    the encoder accepts becomes several windows, and a mention across a cut cannot be predicted."""

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
        sentences = [example.words for example in examples]
        encoded = encode_sentences(self.reader, sentences, lambda subwords: (subwords[0], subwords[-1]))
        window_of: list[dict[int, int]] = [{} for _ in examples]
        windows: Sequence[Any] = encoded.instances
        for number, window in enumerate(windows):
            window_of[window.example] |= dict.fromkeys(window.words, number)
        counts = dict.fromkeys(("mentions_too_long", "mentions_cut", "mentions_of_same_words"), 0)
        for example, places in zip(examples, window_of, strict=True):
            mentions = example.mentions
            short = [one for one in mentions if one.after - one.first <= self.recipe.max_mention_length]
            ends = [(places.get(one.first), places.get(one.after - 1)) for one in short]
            counts["mentions_too_long"] += len(mentions) - len(short)
            counts["mentions_cut"] += sum(first is None or first != last for first, last in ends)
            counts["mentions_of_same_words"] += len(short) - len({(one.first, one.after) for one in short})
        return replace(encoded, counts=encoded.counts | counts)

    def target(self, example: MentionsExample, instance: SentenceWindow) -> list[float]:
        """Return the class of each run of words; of several types of the same words the first."""
        mentions = reversed(example.mentions)
        classes = {(one.first, one.after - 1): float(self.places[one.type]) for one in mentions}
        return [classes.get(run, 0.0) for run in self._runs(instance)]

    def _runs(self, window: SentenceWindow) -> list[tuple[int, int]]:
        """Return first and last word, in the sentence, of each run of a window's words."""
        words = window.words[::2]
        runs = runs_of(len(words), self.recipe.max_mention_length).tolist()
        return [(words[first], words[last]) for first, last in runs]

    def head(self, width: int) -> nn.Module:
        return SpanScores(width, len(self.labels), self.recipe)

    def sizes(self, batch: Batch) -> list[int]:
        """Return the number of runs of each window, of whose words each has two encodings."""
        return [len(runs_of(count // 2, self.recipe.max_mention_length)) for count in batch.counts]

    def confidence(self, example: MentionsExample, parts: Parts[SentenceWindow]) -> float:
        """Return the lowest probability of a decision on the sentence; 1 for one without words."""
        return min([1.0, *(float(values.min()) for _, values in parts)])

    def prediction(self, example: MentionsExample, parts: Parts[SentenceWindow]) -> list[list[int | str]]:
        """Return the mentions of the sentence, in order."""
        predicted: list[tuple[int, int, str]] = []
        for window, best in parts:
            for (first, last), label in zip(self._runs(window), best.flatten().tolist(), strict=True):
                if label:
                    predicted.append((first, last + 1, self.labels[int(label)]))
        return [list(one) for one in sorted(predicted)]
