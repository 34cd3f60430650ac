"""The two mentions of a relation: their form in the text, their subwords, and the truncation of long texts
(gu2020 section 5.2, Table 12)."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from tokenizers import AddedToken
from torch import Tensor

from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import dummies, markers
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.finetuning.reader import Subwords
from pubmill.recipes import FinetuningRecipe

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MENTIONS = 2
"""Number of a relation's arguments: two in every dataset (gu2020 section 5.2)."""
MARKS = [(f"[E{number}-START]", f"[E{number}-END]") for number in range(1, MENTIONS + 1)]
"""Start and end mark of each argument, in the order of the example's entities. Soares et al. 2019 use `[E2]`,
which some texts use as an abbreviation of estradiol."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A mention as characters `start` to `end` (exclusive) of a text, without its marks. `marks`: a character
    of its start mark and one of its end mark, if it has marks."""

    start: int
    end: int
    marks: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention as subwords `first` to `last` (exclusive) of a text, with the indices of its marks."""

    first: int
    last: int
    marks: tuple[int, int] | None = None

    @property
    def whole(self) -> tuple[int, int]:
        """Return first subword and last + 1, marks included."""
        return (self.marks[0], self.marks[1] + 1) if self.marks else (self.first, self.last)


def transformed(example: SequenceExample, recipe: FinetuningRecipe) -> tuple[str, list[Argument]]:
    """Return the text with its mentions in the recipe's form, and the mentions' positions in it."""
    _check_mentions(example, recipe)
    if not example.entities or recipe.entities == "original":
        return example.text, [Argument(one.start, one.end) for one in example.entities]
    if recipe.entities == "markers":
        return marked(example.text, example.entities, MARKS)
    assert recipe.dummies is not None
    try:
        made = dummies(example.text, example.entities, recipe.dummies.types, recipe.dummies.overlap)
    except PubmillError as error:
        raise PubmillError(f"example {example.id}: {error}") from None
    return made.text, [Argument(*span) for span in made.spans]


def marked(
    text: str, mentions: Sequence[Entity], marks: Sequence[tuple[str, str]]
) -> tuple[str, list[Argument]]:
    """Return the text with a mark before and after each mention, and the mentions in it with their marks."""
    spaced = [(f"{start} ", f" {end}") for start, end in marks]
    made = markers(text, mentions, spaced)
    return made.text, [
        Argument(start, end, (start - len(before), end + len(after) - 1))
        for (start, end), (before, after) in zip(made.spans, spaced, strict=True)
    ]


def _check_mentions(example: SequenceExample, recipe: FinetuningRecipe) -> None:
    """Check that the example has the mentions that the recipe needs, and no text that would be read as a
    mark."""
    count = len(example.entities)
    if count != MENTIONS and (recipe.pooling != "cls" or (count and recipe.entities == "markers")):
        raise PubmillError(
            f"example {example.id} has {count} entities; markers, and a pooling other than cls, are for "
            f"{MENTIONS}; use pooling cls, and dummies or original, for this dataset"
        )
    if recipe.entities == "dummies" and count and recipe.dummies is None:
        raise PubmillError(
            f"example {example.id} has entities, but the recipe has no `dummies` to put in their place; give "
            "these (types and overlap), or set `entities` to markers or original"
        )
    for mark in written_tokens(recipe) if recipe.entities == "markers" else ():
        if mark in example.text or mark in (example.text_pair or ""):
            raise PubmillError(
                f"example {example.id}: its text contains {mark}, which marks mentions here; set `entities` "
                "to dummies or original"
            )


def written_tokens(recipe: FinetuningRecipe) -> list[str]:
    """Return what the recipe writes into texts that may be one token of a tokenizer: marks, or dummies."""
    if recipe.entities == "markers":
        return [mark for pair in MARKS for mark in pair]
    if recipe.entities == "dummies" and recipe.dummies:
        return [*recipe.dummies.types.values(), recipe.dummies.overlap]
    return []


def located(subwords: Subwords, arguments: Sequence[Argument]) -> tuple[list[Mention], int]:
    """Return the subwords of each argument, and the number of arguments without a subword. An argument
    without subwords (some tokenizers remove characters) gets the following subword, or the text's last one;
    in a text without subwords it stays empty."""
    if not arguments:
        return [], 0
    starts = [start for start, _ in subwords.spans]
    ends = [end for _, end in subwords.spans]
    mentions: list[Mention] = []
    lost = 0
    for one in arguments:
        first, last = bisect_right(ends, one.start), bisect_left(starts, one.end)
        if first >= last:
            lost += 1
            first = max(0, min(first, len(ends) - 1))
            last = min(first + 1, len(ends))
        marks = one.marks and (bisect_right(ends, one.marks[0]), bisect_right(ends, one.marks[1]))
        mentions.append(Mention(first, last, marks))
    return mentions, lost


def remaining(length: int, room: int, mentions: Sequence[Mention]) -> Sequence[int]:
    """Return which of a text's `length` subwords to keep if there is room for `room`, in order.

    The beginning of the text if it contains all mentions; otherwise as much as possible around all of them;
    if they are too far apart, the surroundings of each; if they are too long, their beginnings.

    Raises a `PubmillError` if there is no room even for the mentions' first subwords and start marks.
    """
    if length <= room:
        return range(length)
    begin = min((mention.whole[0] for mention in mentions), default=0)
    end = max((mention.whole[1] for mention in mentions), default=0)
    if end <= room:
        return range(room)
    if end - begin <= room:
        start = min(begin - (room - (end - begin)) // 2, length - room)
        return range(start, start + room)
    ranks = [min(_place_rank(place, mention) for mention in mentions) for place in range(length)]
    if ranks.count((0, 0)) > room:
        raise PubmillError(
            f"a text has room for {room} subwords, its mentions need {ranks.count((0, 0))}; raise max_length"
        )
    return sorted(sorted(range(length), key=ranks.__getitem__)[:room])


def _place_rank(place: int, mention: Mention) -> tuple[int, int]:
    """Rank the subwords by their importance for a mention, lowest first: the one whose encoding is read, the
    end mark, the rest of the mention from its beginning, the surroundings from near to far."""
    begin, end = mention.whole
    if place in (begin, mention.first):
        return 0, 0
    if mention.marks and place == mention.marks[1]:
        return 1, 0
    if mention.first <= place < mention.last:
        return 2, place - mention.first
    return 3, begin - place if place < begin else place - end + 1


def add_marks(tokenizer: "PreTrainedTokenizerBase", encoder: "PreTrainedModel") -> None:
    """Add the marks as tokens to tokenizer and encoder, unless a kept model has them already. Their
    embeddings are initialised like an encoder's, normally distributed, and depend only on the seed, since
    they are drawn on the CPU for every device."""
    known = tokenizer.get_vocab()
    new = [mark for pair in MARKS for mark in pair if mark not in known]
    if not new:
        return
    # lstrip: otherwise byte-level tokenizers make a token of the space before a mark.
    tokens = [AddedToken(mark, lstrip=True, normalized=False, special=True) for mark in new]
    tokenizer.add_tokens(tokens, special_tokens=True)
    ids = [int(tokenizer.get_vocab()[mark]) for mark in new]
    # Some encoders have more rows than their tokenizers have tokens.
    if max(ids) >= len(_embedding_matrix(encoder)):
        encoder.resize_token_embeddings(max(ids) + 1, mean_resizing=False)
    rows = _embedding_matrix(encoder)
    std = float(getattr(encoder.config, "initializer_range", 0.02))
    with torch.no_grad():
        rows[ids] = torch.normal(0.0, std, (len(ids), rows.shape[1])).to(rows)


def _embedding_matrix(encoder: "PreTrainedModel") -> Tensor:
    """Return the embeddings of the vocabulary, subwords x width."""
    weight = encoder.get_input_embeddings().weight
    assert isinstance(weight, Tensor)
    return weight
