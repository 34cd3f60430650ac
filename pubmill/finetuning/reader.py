"""Conversion of text to subword ids, with special tokens only where the model's tokenizer sets them: "[SEP]"
in a text is text."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from tokenizers import Encoding, Tokenizer

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import text_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CHUNK = 1000
"""Number of texts per call of the tokenizer: it uses all cores on a list, and memory stays small."""
PROBE = ["The", "gene", "binds", "12", "proteins", "(", "p53", ")", "in", "mice", "."]
"""A sentence that shows whether a tokenizer needs a space before each word."""


@dataclass(frozen=True, slots=True)
class Subwords:
    """A text's subword ids without special tokens, and the characters (start, end) of each subword. Spans
    have no space at either end; a subword that is only a space has an empty span (start = end)."""

    ids: list[int]
    spans: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Frame:
    """Special tokens before, between and after texts, and the segment id of each text."""

    before: list[int]
    between: list[int]
    after: list[int]
    segments: tuple[int, int]


class Reader:
    """A model's tokenizer and maximum input length. `segments`: whether segment ids distinguish two texts.
    `words`: whether words given one by one are read as in a sentence (`spaced`) or each `alone`. `causal`:
    the model is a decoder, so that only the last subword of a word or an input has seen all of it. `marks`:
    special tokens that tasks write into texts; they may be added to the tokenizer before the first text."""

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        max_length: int,
        segments: Literal["separate", "single", "none"],
        words: Literal["spaced", "alone"] = "spaced",
        causal: bool = False,
        marks: Sequence[str] = (),
    ) -> None:
        self.tokenizer, self.max_length, self._segments = tokenizer, max_length, segments
        self._words, self.causal, self._marks = words, causal, marks
        self.one, self.two = _frame(tokenizer, pair=False), _frame(tokenizer, pair=True)
        if self.room(pair=True) < 2:
            raise PubmillError(
                f"max_length is {max_length}, which leaves {self.room(pair=True)} subwords beside the "
                "special tokens of two texts; it must leave at least 2"
            )

    @property
    def pad(self) -> int:
        return int(self.tokenizer.pad_token_id)

    def whole(self, ids: Sequence[int]) -> int:
        """Return the place whose encoding represents a whole input: the first token, or the last one in
        decoders and where nothing stands before the text (T5)."""
        return len(ids) - 1 if self.causal or not self.one.before else 0

    def room(self, pair: bool) -> int:
        """Return how many subwords fit into an input beside its special tokens; `pair`: of two texts."""
        frame = self.two if pair else self.one
        special = len(frame.before) + len(frame.after) + (len(frame.between) if pair else 0)
        return self.max_length - special

    @cached_property
    def _of_text(self) -> Tokenizer:
        return text_tokenizer(self.tokenizer.backend_tokenizer, self._marks)

    def subwords(self, texts: Sequence[str]) -> list[Subwords]:
        """Return the subwords of each text, without truncation."""
        return [
            Subwords(read.ids, [_trim_span(text, *span) for span in read.offsets])
            for text, read in zip(texts, self._encoded(texts), strict=True)
        ]

    def _encoded(self, inputs: Sequence[Any], words: bool = False) -> Iterator[Encoding]:
        for start in range(0, len(inputs), CHUNK):
            chunk = list(inputs[start : start + CHUNK])
            yield from self._of_text.encode_batch(chunk, is_pretokenized=words, add_special_tokens=False)

    @cached_property
    def _space(self) -> str:
        """The text before each word, by a test with `PROBE`: nothing for tokenizers that separate words
        themselves (WordPiece, SentencePiece), a space for those that read it as a part of the word."""
        if self._words == "alone":
            return ""
        return min(("", " "), key=lambda space: len(self.misread_words([PROBE], space)))

    def misread_words(self, sentences: Sequence[list[str]], after: str | None = None) -> list[str]:
        """Return the words that have other subwords than in the text of their sentence; none if each is read
        alone. `after`: as in `subwords_of_words`."""
        if self._words == "alone":
            return []
        space = self._space if after is None else after
        misread: list[str] = []
        sentences = [words for words in sentences if words]
        texts = [space + " ".join(words) for words in sentences]
        read = self.subwords_of_words(sentences, space)
        for words, alone, text in zip(sentences, read, self.subwords(texts), strict=True):
            if [piece for pieces in alone for piece in pieces] == text.ids:
                continue
            starts = list(accumulate((len(word) + 1 for word in words), initial=len(space)))
            joined: list[list[int]] = [[] for _ in words]
            for piece, (start, _) in zip(text.ids, text.spans, strict=True):
                joined[max(0, bisect_right(starts, start, hi=len(words)) - 1)].append(piece)
            misread += [word for word, *both in zip(words, alone, joined, strict=True) if both[0] != both[1]]
        return misread

    def subwords_of_words(
        self, sentences: Sequence[list[str]], after: str | None = None
    ) -> list[list[list[int]]]:
        """Return the subword ids of each word, read `after` a text, by default what the tokenizer needs."""
        space = self._space if after is None else after
        spaced = [[space + word for word in words] for words in sentences]
        encoded: list[list[list[int]]] = []
        for words, read in zip(sentences, self._encoded(spaced, words=True), strict=True):
            pieces: list[list[int]] = [[] for _ in words]
            for word, piece in zip(read.word_ids, read.ids, strict=True):
                if word is not None:
                    pieces[word].append(piece)
            encoded.append(pieces)
        return encoded

    def framed(self, first: list[int], second: list[int] | None = None) -> tuple[list[int], list[int] | None]:
        """Return the ids of one or two texts with special tokens, and the segment ids if there are any. A
        single text begins at `len(one.before)`; of two, the first begins at `len(two.before)`, and the second
        at `len(two.before) + len(first) + len(two.between)`."""
        frame = self.one if second is None else self.two
        front = frame.before + first
        back = frame.after if second is None else frame.between + second + frame.after
        ids = front + back
        if self._segments == "none":
            return ids, None
        if second is None or self._segments == "single":
            return ids, [frame.segments[0]] * len(ids)
        # The separator after the first text belongs to it, as in BERT; the rest belongs to the second.
        head = len(front) + 1
        return ids, [frame.segments[0]] * head + [frame.segments[1]] * (len(ids) - head)


def _trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Exclude white space from a span: byte-level BPE and SentencePiece may include a space before it."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _frame(tokenizer: "PreTrainedTokenizerBase", pair: bool) -> Frame:
    """Determine from an example how the tokenizer places special tokens around one text or two."""
    texts = ("a", "b") if pair else ("a",)
    encoded = tokenizer(*texts, return_special_tokens_mask=True, return_token_type_ids=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    real = [place for place, mark in enumerate(special) if not mark]
    sequence = encoded.sequence_ids(0)
    first = [place for place in real if sequence[place] == 0]
    second = [place for place in real if sequence[place] == 1]
    last = (second or first)[-1]
    types = encoded["token_type_ids"]
    # Decoders' tokenizers add no end token; without it, the text's last subword would represent the input.
    end = [] if tokenizer.sep_token is not None else [int(tokenizer.eos_token_id)]
    return Frame(
        before=ids[: first[0]],
        between=(ids[first[-1] + 1 : second[0]] or end) if second else [],
        after=ids[last + 1 :] or end,
        segments=(types[first[0]], types[second[0]] if second else 0),
    )
