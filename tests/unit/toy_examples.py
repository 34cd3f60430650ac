"""Small made-up examples of every kind."""

from collections.abc import Callable

import yaml

from pubmill.convert.hoc import HALLMARKS
from pubmill.examples.kinds import (
    Answer,
    Entity,
    Example,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
)
from pubmill.examples.tagging import to_labels
from tests.conftest import ROOT

KINDS = {"ner": "tokens", "rel": "sequence", "doc": "multilabel", "sim": "regression", "qa": "span"}
METRICS = {"ner": "entity_f1", "rel": "micro_f1", "doc": "micro_f1", "sim": "pearson", "qa": "mrr"}
LABELS = ("activates", "blocks", "none")
TEMPLATES: dict[str, str] = yaml.safe_load((ROOT / "specs/prompts/plain.yaml").read_text())["templates"]
"""Task -> template of its prompts."""


def _sentence(number: int, document: str) -> TokensExample:
    words = f"Case {number} : flu fever after old aspirin tablets , not cured .".split()
    mentions = [(3, 5, "Disease"), (7, 8, "Chemical")] if number % 3 else [(3, 4, "Disease")]
    mentions += [(8, 9, "Chemical")] if number % 4 == 1 else []
    return TokensExample(
        id=f"test-{number:06d}", document=document, words=words, labels=to_labels(mentions, len(words), "bio")
    )


def relation(number: int, variant: int = 0) -> SequenceExample:
    text = f"In {number} assays drug{number} changed gene{number} levels."
    start = text.index("drug")
    gene = text.index("gene")
    return SequenceExample(
        id=f"{1000 + variant + number // 2}.T{number}",
        document=str(1000 + variant + number // 2),
        text=text,
        label=LABELS[number % 3],
        entities=[
            Entity(start=start, end=start + len(f"drug{number}"), type="C"),
            Entity(start=gene, end=gene + len(f"gene{number}"), type="G"),
        ],
    )


def examples(name: str) -> list[Example]:
    """Return the twelve examples of a toy dataset."""
    made: dict[str, Callable[[int], Example]] = {
        "ner": lambda n: _sentence(n, str(500 + n // 3)),
        "rel": relation,
        "doc": lambda n: MultilabelExample(
            id=str(70 + n),
            document=str(70 + n),
            text=f"Abstract {n}. More.",
            labels=sorted({HALLMARKS[n % 10], HALLMARKS[(3 * n) % 10]}) if n % 4 else [],
        ),
        "sim": lambda n: RegressionExample(
            id=str(n * 7), document=None, text=f"One {n}.", text_pair=f"Two {n}.", score=float(n % 5) + 0.25
        ),
        "qa": lambda n: SpanExample(
            id=f"q{n}_000",
            document=None,
            question=f"What {n}?",
            context=f"It is gene{n} here.",
            answers=[Answer(text=f"gene{n}", start=6)],
            group=f"q{n}",
            golds=[f"gene{n}"],
        ),
    }
    return [made[name](number) for number in range(1, 13)]
