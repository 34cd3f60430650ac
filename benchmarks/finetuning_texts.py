"""Training data of benchmarks/finetuning.py: relations and entities, real or made up; and a random model."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel, BertTokenizer

from pubmill.examples import argument_transforms as entities
from pubmill.examples.kinds import Entity, SequenceExample, TokensExample, read_examples
from pubmill.finetuning.tasks import TASKS
from pubmill.recipes import Dummies, FinetuningRecipe

BATCH, WORDS = 32, 8000
DEV = 400
"""Made-up examples for dev. Their labels depend on single words, so they can be learnt."""
SMALL: dict[str, Any] = {
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
}
DUMMIES = Dummies(
    types={"CHEMICAL": "@CHEMICAL$", "GENE-Y": "@GENE$", "GENE-N": "@GENE$"}, overlap="@CHEM-GENE$"
)
CLASSES = {
    "chemprot": {"CPR:3": 0, "CPR:4": 1, "CPR:5": 2, "CPR:6": 3, "CPR:9": 4, "false": 5},
    "ncbi-disease": {"O": 0, "B": 1, "I": 2},
}
NUMBER = {"chemprot": 18035, "ncbi-disease": 5424}
LENGTHS = {  # means 52 and 26.5
    "chemprot": [8, 22, 26, 30, 32, 35, 37, 40, 43, 45, 47, 50, 52, 56, 58, 62, 67, 75, 84, 100, 231],
    "ncbi-disease": [2, 9, 12, 14, 16, 17, 18, 20, 21, 23, 24, 26, 28, 29, 31, 34, 36, 39, 44, 51, 134],
}
"""Subwords per training sentence, without special tokens, at the 0th, 5th, ... 100th percentile."""


@dataclass(frozen=True)
class Examples:
    """Examples, and their texts (or words) as the Trainer reads them."""

    of: Sequence[Any]

    @cached_property
    def texts(self) -> list[Any]:
        return [
            one.words
            if isinstance(one, TokensExample)
            else entities.dummies(one.text, one.entities, DUMMIES.types, DUMMIES.overlap).text
            for one in self.of
        ]

    def first(self, number: int) -> "Examples":
        return Examples(self.of[:number])

    def balanced(self, number: int) -> "Examples":
        """Return at most `number` examples of each label; if one label dominates, a short training learns
        only that label."""
        seen: Counter[str] = Counter()
        kept = []
        for one in self.of:
            seen[one.label] += 1
            if seen[one.label] <= number:
                kept.append(one)
        return Examples(kept)

    def __len__(self) -> int:
        return len(self.of)


@dataclass(frozen=True, kw_only=True)
class Work:
    """Examples to train on and to score, and our recipe.

    The Trainer pads to the recipe's `max_length`.
    """

    name: str
    train: Examples
    dev: Examples
    recipe: FinetuningRecipe


def relations(mirror: Path | None) -> Work:
    recipe = FinetuningRecipe(
        task="sequence",
        metric="micro_f1",
        negative="false",
        dummies=DUMMIES,
        max_length=256,
        learning_rate=2e-5,
        batch_size=BATCH,
        epochs=1,
        keep="last",
    )
    if mirror is None:
        train, dev = split(made_up("chemprot", made_up_relation))
        return Work(name="chemprot", train=train, dev=dev, recipe=recipe)
    train, dev = real("chemprot@blurb", mirror)
    return Work(name="chemprot", train=train, dev=dev, recipe=recipe)


def mentions(mirror: Path | None) -> Work:
    name = "ncbi-disease"
    recipe = FinetuningRecipe(
        task="tokens",
        metric="entity_f1",
        max_length=128,
        learning_rate=2e-5,
        batch_size=BATCH,
        epochs=1,
        keep="last",
    )
    if mirror is None:
        train, dev = split(made_up(name, made_up_sentence))
        return Work(name=name, train=train, dev=dev, recipe=recipe)
    train, dev = real(name, mirror)
    return Work(name=name, train=train, dev=dev, recipe=recipe)


def real(dataset: str, mirror: Path) -> tuple[Examples, Examples]:
    """Return train and dev of a dataset whose files are in a mirror, each in random order."""
    from pubmill.convert.dataset import convert
    from tests.dataset_specs import conversion_of, inputs_of, spec_of

    with tempfile.TemporaryDirectory() as folder:
        convert(conversion_of(dataset), inputs_of(dataset, mirror), Path(folder))
        kind = TASKS[spec_of(dataset).kind].kind
        train, dev = (list(read_examples(Path(folder) / f"{s}.jsonl.gz", kind)) for s in ("train", "dev"))
    random.Random(1).shuffle(train)
    random.Random(1).shuffle(dev)
    return Examples(train), Examples(dev)


def split(examples: Examples) -> tuple[Examples, Examples]:
    """Return train and dev."""
    return Examples(examples.of[:-DEV]), Examples(examples.of[-DEV:])


def made_up(name: str, make: Callable[[random.Random, str, int], Any]) -> Examples:
    """Make as many examples as the real dataset has, with the same lengths; deterministic."""
    draw, steps = random.Random(1), LENGTHS[name]
    examples = []
    for number in range(NUMBER[name]):
        place = draw.random() * (len(steps) - 1)
        low = int(place)
        subwords = steps[low] + (place - low) * (steps[low + 1] - steps[low])
        examples.append(make(draw, str(number), round(subwords)))
    return Examples(examples)


def made_up_relation(draw: random.Random, name: str, subwords: int) -> SequenceExample:
    """Make a sentence whose first two words are the mentions; each dummy has three subwords."""
    words = [f"w{draw.randrange(WORDS)}" for _ in range(max(2, subwords - 4))]
    end = len(words[0])
    pair = [
        Entity(start=0, end=end, type="CHEMICAL"),
        Entity(start=end + 1, end=end + 1 + len(words[1]), type="GENE-Y"),
    ]
    labels = list(CLASSES["chemprot"])
    label = labels[int(words[0][1:]) % len(labels)]
    return SequenceExample(id=name, document=None, text=" ".join(words), label=label, entities=pair)


def made_up_sentence(draw: random.Random, name: str, subwords: int) -> TokensExample:
    words = [f"w{draw.randrange(WORDS)}" for _ in range(subwords)]
    labels = ["O" if int(word[1:]) % 20 else "B" for word in words]
    return TokensExample(id=name, document=None, words=words, labels=labels)


def write_model(folder: Path, texts: Sequence[Any], learn: bool, small: bool) -> Path:
    """Write a random BERT whose vocabulary is learnt from the texts or contains all made-up words."""
    folder.mkdir()
    if learn:
        learner = BertWordPieceTokenizer(lowercase=True)
        learner.train_from_iterator(iter(joined(texts)), vocab_size=WORDS, show_progress=False)
        learner.save_model(str(folder))
    else:
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "@", "$", "chemical", "gene"]
        (folder / "vocab.txt").write_text(
            "\n".join([*special, *(f"w{n}" for n in range(WORDS))]) + "\n", encoding="utf-8"
        )
    tokenizer = BertTokenizer.from_pretrained(folder, do_lower_case=True)
    tokenizer.save_pretrained(folder)
    BertModel(BertConfig(vocab_size=len(tokenizer), **(SMALL if small else {}))).save_pretrained(folder)
    return folder


def joined(texts: Sequence[Any]) -> list[str]:
    return [text if isinstance(text, str) else " ".join(text) for text in texts]
