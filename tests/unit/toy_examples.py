"""Small made-up examples of every kind."""

from collections.abc import Callable

import yaml

from pubmill.convert.hoc import HALLMARKS
from pubmill.examples import kinds
from pubmill.examples.tagging import to_labels
from tests.conftest import ROOT

KINDS = {"ner": "tokens", "rel": "sequence", "doc": "multilabel", "sim": "regression", "qa": "span"}
METRICS = {"ner": "entity_f1", "rel": "micro_f1", "doc": "micro_f1", "sim": "pearson", "qa": "mrr"}
LABELS = ("activates", "blocks", "none")
TEMPLATES: dict[str, str] = yaml.safe_load((ROOT / "specs/prompts/plain.yaml").read_text())["templates"]
"""Task -> template of its prompts."""


def _sentence(number: int, document: str) -> kinds.TokensExample:
    words = f"Case {number} : flu fever after old aspirin tablets , not cured .".split()
    mentions = [(3, 5, "Disease"), (7, 8, "Chemical")] if number % 3 else [(3, 4, "Disease")]
    mentions += [(8, 9, "Chemical")] if number % 4 == 1 else []
    return kinds.TokensExample(
        id=f"test-{number:06d}", document=document, words=words, labels=to_labels(mentions, len(words), "bio")
    )


def relation(number: int, variant: int = 0) -> kinds.SequenceExample:
    text = f"In {number} assays drug{number} changed gene{number} levels."
    start = text.index("drug")
    gene = text.index("gene")
    return kinds.SequenceExample(
        id=f"{1000 + variant + number // 2}.T{number}", document=str(1000 + variant + number // 2), text=text,
        label=LABELS[number % 3],
        entities=[
            kinds.Entity(start=start, end=start + len(f"drug{number}"), type="C"),
            kinds.Entity(start=gene, end=gene + len(f"gene{number}"), type="G"),
        ],
    )  # fmt: skip


def examples(name: str) -> list[kinds.Example]:
    made: dict[str, Callable[[int], kinds.Example]] = {
        "ner": lambda n: _sentence(n, str(500 + n // 3)), "rel": relation,
        "doc": lambda n: kinds.MultilabelExample(
            id=str(70 + n), document=str(70 + n), text=f"Abstract {n}. More.",
            labels=sorted({HALLMARKS[n % 10], HALLMARKS[(3 * n) % 10]}) if n % 4 else [],
        ),
        "sim": lambda n: kinds.RegressionExample(
            id=str(n * 7), document=None, text=f"One {n}.", text_pair=f"Two {n}.", score=float(n % 5) + 0.25,
        ),
        "qa": lambda n: kinds.SpanExample(
            id=f"q{n}_000", document=None, question=f"What {n}?", context=f"It is gene{n} here.",
            answers=[kinds.Answer(text=f"gene{n}", start=6)], group=f"q{n}", golds=[f"gene{n}"],
        ),
    }  # fmt: skip
    return [made[name](number) for number in range(1, 13)]
