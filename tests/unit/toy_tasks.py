"""A toy task of each kind that a tiny model learns something of in seconds, with its recipe."""

import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypedDict

from pubmill.examples import kinds
from pubmill.recipes import Dummies, FinetuningRecipe

SYLLABLES = ["ba", "co", "di", "fu", "ge", "lo", "mi", "nu"]
TOKENS = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=3e-3, batch_size=8, epochs=2, precision="float32",
    max_length=24,
)  # fmt: skip
DUMMIES = Dummies(types={"drug": "@DRUG$", "gene": "@GENE$"}, overlap="@{}-{}$")


def of_kind(task: Any, metric: str, **further: Any) -> FinetuningRecipe:
    return replace(TOKENS, task=task, metric=metric, max_length=48, **further)


RELATION = of_kind("sequence", "micro_f1", negative="no", dummies=DUMMIES)
SPAN = of_kind("span", "f1", stride=4, n_best=3)
OURS: dict[str, FinetuningRecipe] = {
    "crf": replace(TOKENS, crf=True),
    "bilstm": replace(TOKENS, head="bilstm", head_sizes=[16], crf=True, tagging="bioul"),
    "mlp": replace(TOKENS, head="mlp", head_sizes=[16], labelled_subwords="all"),
    "sequence": RELATION,
    "markers": replace(RELATION, entities="markers", pooling="entity-start"),
    "mentions": replace(RELATION, pooling="mention-max"),
    "bilstm of relations": replace(RELATION, head="bilstm", head_sizes=[16]),
    "multilabel": of_kind("multilabel", "micro_f1"),
    "regression": of_kind("regression", "pearson", segments="single"),
    "relations": of_kind("relations", "relation_f1"),
    "nested mentions": of_kind("mentions", "entity_f1", max_mention_length=3),
}
"""Recipes whose head transformers does not have."""


def text(generator: random.Random, words: int) -> str:
    return " ".join(
        "".join(generator.choice(SYLLABLES) for _ in range(generator.randrange(1, 3))) for _ in range(words)
    )


class Common(TypedDict):
    id: str
    document: None


def example(kind: str, number: int, generator: random.Random) -> kinds.Example:
    words = text(generator, generator.randrange(8, 16)).split()
    whole, common = " ".join(words), Common(id=f"e{number}", document=None)
    if kind == "tokens":
        labels = ["B-Thing" if word.startswith("ba") else "O" for word in words]
        return kinds.TokensExample(words=words, labels=labels, **common)
    if kind == "sequence":
        spans = [(0, len(words[0])), (len(whole) - len(words[-1]), len(whole))]
        pair = [
            kinds.Entity(start=a, end=b, type=of) for (a, b), of in zip(spans, ("drug", "gene"), strict=True)
        ]
        return kinds.SequenceExample(
            text=whole, label="yes" if "mi" in words[0] else "no", entities=pair, **common
        )
    if kind == "multilabel":
        half, parts = len(" ".join(words[:4])), (words[:4], words[4:])
        own = [[s for s in SYLLABLES[:3] if s in part] for part in parts]
        sentences = [
            kinds.LabelledSentence(start=start, end=end, labels=labels)
            for (start, end), labels in zip(((0, half), (half + 1, len(whole))), own, strict=True)
        ]
        return kinds.MultilabelExample(
            text=whole, labels=sorted({*own[0], *own[1]}), sentences=sentences, **common
        )
    if kind == "regression":
        return kinds.RegressionExample(
            text=whole, text_pair=text(generator, 5), score=float(len(words)), **common
        )
    if kind == "relations":
        return related(generator, common)
    if kind == "mentions":
        places = [(n, n + 1) for n, word in enumerate(words) if word.startswith("ba")]
        places += [(n - 1, n + 1) for n, _ in places if n]
        found = sorted(kinds.WordSpan(*place, "Thing") for place in places)
        return kinds.MentionsExample(words=words, mentions=found, **common)
    start = len(words[0]) + 1
    answers = [kinds.Answer(text=words[1], start=start)] if number % 3 else []
    return kinds.SpanExample(question=text(generator, 3), context=whole, answers=answers, **common)


def related(generator: random.Random, common: Common) -> kinds.RelationsExample:
    """Each of four words is a concept, before some that are none; `ba` and `co` are related to `lo`, `mi` and
    `nu`."""
    words = generator.sample(SYLLABLES, 4)
    entities = [
        kinds.Entity(start=3 * n, end=3 * n + 2, type="drug", id=word) for n, word in enumerate(words)
    ]
    pairs = [list(pair) for pair in combinations(sorted(words), 2)]
    right = [pair for pair in pairs if pair[0] in ("ba", "co") and pair[1] in ("lo", "mi", "nu")]
    relations = [[*pair, "bind", "Novel"] for pair in right]
    whole = " ".join([*words, text(generator, generator.randrange(4))]).strip()
    return kinds.RelationsExample(text=whole, entities=entities, pairs=pairs, relations=relations, **common)


def write_dataset(folder: Path, kind: str, train: int = 48) -> Path:
    generator = random.Random(kind)
    for split, number in (("train", train), ("dev", 12), ("test", 20)):
        examples = [example(kind, place, generator) for place in range(number)]
        kinds.write_examples(folder / f"{split}.jsonl.gz", examples)
    return folder
