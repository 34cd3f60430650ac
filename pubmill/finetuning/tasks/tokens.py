"""Words with labels: entities and PICO elements (gu2020 section 5.2; shin2020 section 5.1).

Files hold BIO labels. Each sentence is converted to the recipe's scheme for learning, and predictions are
converted back.

A sentence with more subwords than the encoder accepts becomes several windows, cut between words, so that
every word is seen and predicted. A mention divided by a cut keeps its labels: the next window begins inside
it, and both parts form one mention when the windows are joined.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from torch import Tensor, nn

from pubmill.errors import PubmillError
from pubmill.examples import tagging
from pubmill.examples.kinds import TokensExample
from pubmill.finetuning.heads import BiLstm, ChainHead, Layers, LinearChain
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.task import Classification, Parts
from pubmill.messages.progress import report_progress
from pubmill.recipes import FinetuningRecipe
from pubmill.storage.privacy import label_of_process

SAMPLE = 300
"""Maximum number of training sentences in which misread words are counted."""
MISREAD = 0.01
"""Greatest share of words whose subwords may differ from those in their sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceWindow(Instance):
    """Consecutive words of a sentence; `words`: index of the word at each place."""

    words: list[int]


class Tokens(Classification[TokensExample]):
    """One label per word, predicted at its first subword; learnt there or at all of its subwords.

    If all subwords are labelled, each has the label of its word, including B: "whole-word labeling" in
    shin2020 Figure 1. With `separate`, its sub-token labelling, later subwords have the label X, and
    predictions hold the labels of all subwords too. With labels on first subwords only, later ones are not
    learnt.
    """

    kind = TokensExample
    key = "labels"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[TokensExample]) -> list[str]:
        """Return O, then in alphabetical order all labels that the scheme has for the types found. All of
        them, because a small training set may lack some by chance, and the head should not depend on that."""
        labels = {label for example in examples for label in example.labels} - {"O"}
        if not labels:
            raise PubmillError("no training example has an entity to learn from; convert the dataset again")
        types = {label.partition("-")[2] for label in labels}
        # A mention of several words next to one of a single word: together they have every label.
        neighbours = [[(0, 3, kind), (3, 4, kind)] for kind in types]
        possible = {label for pair in neighbours for label in tagging.to_labels(pair, 4, recipe.tagging)}
        later = [tagging.CONTINUATION] if recipe.labelled_subwords == "separate" else []
        return ["O", *sorted(possible), *later]

    def encode(self, examples: Sequence[TokensExample]) -> Encoded:
        return encode_sentences(self.reader, [example.words for example in examples], self._labelled)

    def _labelled(self, subwords: range) -> range:
        if self.recipe.labelled_subwords != "first":
            return subwords
        return subwords[-1:] if self.reader.causal else subwords[:1]

    def target(self, example: TokensExample, instance: SentenceWindow) -> list[float]:
        """Return the index of the label at each place."""
        labels = _convert_labels(example.labels, self.recipe.tagging)
        target: list[float] = [self.places[labels[word]] for word in instance.words]
        if self.recipe.labelled_subwords == "separate":
            for place, (before, word) in enumerate(pairwise(instance.words), 1):
                if word == before:
                    target[place] = self.places[tagging.CONTINUATION]
        return target

    def prepare(self, examples: Sequence[TokensExample], instances: Sequence[SentenceWindow]) -> None:
        """Check how the words are read, and weight the labels by their frequency in the training data."""
        self._check_words([example.words for example in examples[:: len(examples) // SAMPLE + 1]])
        super().prepare(examples, instances)

    def _check_words(self, sentences: Sequence[list[str]]) -> None:
        """Raise a `PubmillError` if words have other subwords than in their sentence. A share of `MISREAD` is
        accepted, for words with characters that the tokenizer drops."""
        misread, number = self.reader.misread_words(sentences), sum(map(len, sentences))
        if not misread:
            return
        shown = "" if label_of_process() else f", such as {', '.join(map(repr, sorted(set(misread))[:5]))}"
        fault = (
            f"{type(self.reader.tokenizer).__name__} reads {len(misread):,} of {number:,} words of the "
            f"training data otherwise when they are given one by one than in their sentence{shown}"
        )
        if len(misread) > MISREAD * number:
            raise PubmillError(f"{fault}; labels of words can't be learnt with it, take another model")
        report_progress(fault)

    def head(self, width: int) -> nn.Module:
        kind = BiLstm if self.recipe.head == "bilstm" else Layers
        scorer = kind(width, len(self.labels), self.recipe)
        return ChainHead(scorer, len(self.labels)) if self.recipe.crf else scorer

    def loss(self, model: nn.Module, scores: Tensor, batch: Batch, targets: Tensor) -> Tensor:
        if self.recipe.crf:
            mean: Tensor = _crf_layer(model)(scores, batch.counts, targets)
            return mean
        return super().loss(model, scores, batch, targets)

    @property
    def fixed_places(self) -> Literal["every"] | None:
        """Every position, if each is scored alone and the loss skips those without targets; else None."""
        alone = not self.recipe.crf and self.recipe.head != "bilstm"
        return "every" if alone and self.recipe.loss == "cross-entropy" else None

    def output(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return the index of the best label at each place; with a CRF, those of the best sequence."""
        if self.recipe.crf:
            return _crf_layer(model).decode(scores, batch.counts)
        return super().output(model, scores, batch)

    def probabilities(self, model: nn.Module, scores: Tensor, batch: Batch) -> Tensor:
        """Return the probability of the predicted label at each place; with a CRF, over all sequences."""
        if not self.recipe.crf:
            return super().probabilities(model, scores, batch)
        best = self.output(model, scores, batch).unsqueeze(-1)
        return _crf_layer(model).marginals(scores, batch.counts).gather(-1, best).squeeze(-1)

    def confidence(self, example: TokensExample, parts: Parts[SentenceWindow]) -> list[float]:
        """Return the probability of each word's label, at its first subword; 1 for a word without subwords,
        which is always "O"."""
        confidence = [1.0] * len(example.words)
        for window, values in parts:
            for word, value in reversed(list(zip(window.words, values.tolist(), strict=True))):
                confidence[word] = value  # the first subword last
        return confidence

    def prediction(self, example: TokensExample, parts: Parts[SentenceWindow]) -> list[str]:
        """Return BIO labels of every word; words without a subword are "O"."""
        subwords: list[list[str]] = [[] for _ in example.words]
        for window, best in parts:
            for word, label in zip(window.words, best.tolist(), strict=True):
                subwords[word].append(self.labels[label])
        words = _convert_labels([tagging.word_label(labels) for labels in subwords], "bio")
        separate = self.recipe.labelled_subwords == "separate"
        return tagging.PredictedLabels(words, subwords) if separate else words

    def row(self, example: TokensExample, prediction: list[str] | None) -> dict[str, object]:
        row = super().row(example, prediction)
        if isinstance(prediction, tagging.PredictedLabels):
            row[tagging.SUBWORDS] = prediction.subwords
        return row


def encode_sentences(
    reader: Reader, sentences: Sequence[list[str]], read: Callable[[range], Sequence[int]]
) -> Encoded:
    """Return the windows of each sentence. `read`: which of a word's subwords are the window's places. A word
    has at most as many subwords as a window can hold; words without subwords are in no window."""
    room = reader.room(pair=False)
    counts = dict.fromkeys(("windows_split", "words_without_subword", "words_shortened"), 0)
    windows: list[SentenceWindow] = []
    for number, whole in enumerate(reader.subwords_of_words(sentences)):
        subwords = [pieces[:room] for pieces in whole]
        cut: list[list[int]] = []
        filled = room
        for word, pieces in enumerate(subwords):
            if pieces and filled + len(pieces) > room:
                cut.append([])
                filled = 0
            if pieces:
                cut[-1].append(word)
                filled += len(pieces)
        counts["windows_split"] += len(cut) > 1
        counts["words_without_subword"] += whole.count([])
        counts["words_shortened"] += sum(len(pieces) > room for pieces in whole)
        for words in cut:
            ids, segments = reader.framed([piece for word in words for piece in subwords[word]])
            places, owners, at = list[int](), list[int](), len(reader.one.before)
            for word in words:
                own = read(range(at, at + len(subwords[word])))
                places += own
                owners += [word] * len(own)
                at += len(subwords[word])
            windows.append(
                SentenceWindow(example=number, ids=ids, segments=segments, places=places, words=owners)
            )
    return Encoded(instances=windows, counts=counts)


def _convert_labels(labels: Sequence[str], scheme: tagging.Scheme) -> list[str]:
    """Convert a sentence's labels from any scheme to another one."""
    return tagging.to_labels(tagging.to_mentions(labels), len(labels), scheme)


def _crf_layer(model: nn.Module) -> LinearChain:
    chain = model.get_submodule("head.chain")
    assert isinstance(chain, LinearChain)
    return chain
