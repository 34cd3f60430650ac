"""Questions with an answer in a context (Devlin et al. 2019 sections 4.2, 4.3; shin2020 section 4).

Question and context are read together, and each token of the context is scored as start and as end of the
answer. A context with more tokens than the encoder accepts becomes several windows, which share tokens so
that an answer at a cut is complete in one of them. The first token ([CLS]) means "no answer here".
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SpanExample
from pubmill.finetuning.heads import Layers
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.reader import Reader, Subwords
from pubmill.finetuning.tasks.task import Parts, Task
from pubmill.recipes import FinetuningRecipe

Characters = tuple[int, int]
"""First character, last character + 1."""
Tokens = tuple[int, int]
"""First token, last token (inclusive)."""
Scores = NDArray[np.float64]

ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"
"""Kinds of questions in the training data."""


class Predicted(TypedDict):
    """A predicted answer; "" means that the context does not answer the question."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWindow(Instance):
    """A question with consecutive tokens of its context, at `places[1:]`; the first token is at `places[0]`.
    `spans`: the characters of each token of the whole context; `first`: index of the window's first one."""

    spans: list[Characters]
    first: int

    def at(self, tokens: Tokens | None) -> Tokens | None:
        """Return the places at which these tokens of the context start and end; None if any is missing."""
        if tokens is None or tokens[0] < self.first or tokens[1] > self.first + len(self.places) - 2:
            return None
        return tokens[0] - self.first + 1, tokens[1] - self.first + 1


class Span(Task[SpanExample]):
    """Start and end of an answer; the best answers over all windows are predicted.

    A question is unanswerable if it has neither answers in its context nor golds elsewhere (SQuAD 2.0). Only
    a model trained on such questions predicts "". A context without any gold of its question (BioASQ) is
    treated like a window without the answer.
    """

    kind = SpanExample
    key = "answers"

    def __init__(self, recipe: FinetuningRecipe, reader: Reader, labels: Sequence[str]) -> None:
        super().__init__(recipe, reader, labels)
        room = reader.room(pair=True)
        self._longest_question = room // 2
        least = room - self._longest_question
        if not 0 <= recipe.stride < least:
            raise PubmillError(
                f"stride is {recipe.stride}; it must be at least 0 and below {least}: so many tokens of a "
                f"context fit beside a long question into a max_length of {reader.max_length}. Choose a "
                "smaller stride, or a larger max_length if the model takes it"
            )

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[SpanExample]) -> list[str]:
        if not any(example.answers for example in examples):
            raise PubmillError("no training example has an answer to learn from; convert the dataset again")
        unanswerable = any(not example.answers and not example.golds for example in examples)
        return [ANSWERABLE, UNANSWERABLE] if unanswerable else [ANSWERABLE]

    def encode(self, examples: Sequence[SpanExample]) -> Encoded:
        """Return windows; a question longer than half of the room is truncated."""
        questions = self._subwords(example.question for example in examples)
        contexts = self._subwords(example.context for example in examples)
        names = ("questions_shortened", "contexts_split", "contexts_without_subword")
        counts = dict.fromkeys((*names, "answers_inexact", "answers_in_no_window"), 0)
        windows: list[ContextWindow] = []
        for number, example in enumerate(examples):
            question, context = questions[example.question].ids, contexts[example.context]
            cut = self._windows(number, question[: self._longest_question], context)
            counts["questions_shortened"] += len(question) > self._longest_question
            counts["contexts_split"] += len(cut) > 1
            counts["contexts_without_subword"] += not context.ids
            for answer, tokens in zip(example.answers, _answer_tokens(example, context.spans), strict=True):
                exact = tokens is not None and text_of(example.context, context.spans, tokens) == answer.text
                counts["answers_inexact"] += not exact
                counts["answers_in_no_window"] += not any(window.at(tokens) for window in cut)
            windows += cut
        return Encoded(instances=windows, counts=counts)

    def _subwords(self, texts: Iterable[str]) -> dict[str, Subwords]:
        """Tokenize each distinct text once, since many questions share a context."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self.reader.subwords(distinct), strict=True))

    def _windows(self, example: int, question: list[int], context: Subwords) -> list[ContextWindow]:
        """Return the smallest number of windows that cover all tokens, each sharing `stride` tokens with the
        previous one."""
        frame, length = self.reader.two, len(context.ids)
        room = self.reader.room(pair=True) - len(question)
        begin = len(frame.before) + len(question) + len(frame.between)
        windows: list[ContextWindow] = []
        for first in range(0, max(1, length - self.recipe.stride), room - self.recipe.stride):
            piece = context.ids[first : first + room]
            ids, segments = self.reader.framed(question, piece)
            places, spans = [0, *range(begin, begin + len(piece))], context.spans
            windows.append(
                ContextWindow(
                    example=example, ids=ids, segments=segments, places=places, spans=spans, first=first
                )
            )
        return windows

    def target(self, example: SpanExample, instance: ContextWindow) -> list[float]:
        """Return the places where the first answer that is complete in the window starts and ends. Only one,
        because a softmax has one correct place; sources list the preferred answer first. Both are 0, the
        first place, if there is none."""
        answers = map(instance.at, _answer_tokens(example, instance.spans))
        return list(map(float, next(filter(None, answers), (0, 0))))

    def head(self, width: int) -> nn.Module:
        """Return a head with two scores for each place: start and end."""
        return Layers(width, 2, self.recipe)

    def loss(self, model: nn.Module, scores: Tensor, batch: Batch, targets: Tensor) -> Tensor:
        """Return the mean of the cross-entropies of start and end, each over its window's places."""
        windows = torch.split(scores, batch.counts)
        padded = pad_sequence(list(windows), batch_first=True, padding_value=-torch.inf)
        # One row for each start and each end: over more dimensions, a GPU's sums have no fixed order.
        return nn.functional.cross_entropy(padded.transpose(1, 2).flatten(0, 1), targets.long())

    def prediction(self, example: SpanExample, parts: Parts[ContextWindow]) -> list[Predicted]:
        """Return at most `n_best` answers, best first.

        An answer's score is the sum of its start and end scores. The score of "" is the lowest score of the
        first place in any window; among equals it comes last (as in BERT's run_squad.py, without a
        threshold). Probabilities are the softmax over the scores of the `n_best` best texts, and of "" if the
        model may predict it. For a context without tokens, "" is the only possible prediction.
        """
        windows = [(window, output.numpy().astype(np.float64)) for window, output in parts]
        # Sometimes all of the best ends come before all of the best starts.
        texts = self._scored_texts(example.context, windows, self.recipe.n_best)
        texts = texts or self._scored_texts(example.context, windows, self.reader.max_length)
        if UNANSWERABLE in self.labels or not texts:
            texts[""] = min(float(scores[0].sum()) for _, scores in windows)
        ranked = sorted(texts.items(), key=lambda one: -one[1])
        raised = np.exp(np.asarray([score for _, score in ranked]) - ranked[0][1])  # the softmax
        shares = (raised / raised.sum()).tolist()
        pairs = zip(ranked, shares, strict=True)
        return [Predicted(text=text, probability=p) for (text, _), p in pairs][: self.recipe.n_best]

    def _scored_texts(
        self, context: str, windows: Sequence[tuple[ContextWindow, Scores]], tried: int
    ) -> dict[str, float]:
        """Return the best texts and their scores, from the `tried` best starts and ends of each window."""
        longest = self.recipe.max_answer_length
        best = [(window.first, *best_spans(scores[1:], tried, longest)) for window, scores in windows]
        sums = np.concatenate([of_spans for _, of_spans, _ in best])
        tokens = np.concatenate([spans + first for first, _, spans in best])
        of_tokens, order = windows[0][0].spans, np.argsort(-sums, kind="stable")
        texts = (text_of(context, of_tokens, (int(first), int(last))) for first, last in tokens[order])
        found: dict[str, float] = {}  # the first of equal texts has the best score
        scored = zip(texts, sums[order].tolist(), strict=True)
        new = ((text, score) for text, score in scored if text and text not in found)
        for text, score in islice(new, self.recipe.n_best):
            found[text] = score
        return found

    def scored(self, prediction: list[Predicted]) -> list[tuple[str, float]]:
        return [(answer["text"], answer["probability"]) for answer in prediction]


def _answer_tokens(example: SpanExample, spans: Sequence[Characters]) -> list[Tokens | None]:
    return [covering(spans, one.start, one.start + len(one.text)) for one in example.answers]


def covering(spans: Sequence[Characters], start: int, end: int) -> Tokens | None:
    """Return the fewest tokens that cover the characters `start` to `end`, as far as tokens cover them. If a
    text begins or ends inside a token, the whole token is taken. None if no token covers any of the
    characters, because the tokenizer removed them."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0]) - 1
    return (first, last) if first <= last else None


def text_of(context: str, spans: Sequence[Characters], tokens: Tokens) -> str:
    """Return the context's characters from the first token to the last, without surrounding white space,
    which some tokenizers make a token."""
    first, last = tokens
    return context[spans[first][0] : spans[last][1]].strip()


def best_spans(scores: Scores, n_best: int, longest: int) -> tuple[Scores, NDArray[np.int64]]:
    """Return all answers from one of the `n_best` best starts to one of the `n_best` best ends.

    `scores`: tokens x 2, start and end. Returns the sums of both scores, and answers x 2 with first and last
    token, without answers that end before they start or have more than `longest` tokens. Their order depends
    only on the scores, also where these are equal, as they often are in bfloat16.
    """
    starts, ends = (np.argsort(-scores[:, side], kind="stable")[:n_best] for side in (0, 1))
    lengths = ends[None, :] - starts[:, None]
    start, end = np.nonzero((lengths >= 0) & (lengths < longest))
    first, last = starts[start], ends[end]
    return scores[first, 0] + scores[last, 1], np.stack([first, last], axis=1)
