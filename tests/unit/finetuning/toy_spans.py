"""Questions with answers in a context of syllables, and a tiny random BERT that reads them."""

import random
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForPreTraining, BertTokenizer

from pubmill.examples.kinds import Answer, SpanExample
from pubmill.recipes import FinetuningRecipe
from tests.unit.tiny_encoders import SHAPE

SYLLABLES = ["ba", "co", "di", "fu", "ge", "lo", "mi", "nu"]
RECIPE = FinetuningRecipe(
    task="span",
    metric="f1",
    learning_rate=3e-3,
    batch_size=8,
    epochs=2,
    max_length=40,
    stride=8,
    precision="float32",
)


def make_model(folder: Path) -> Path:
    """A model with a piece for each syllable, in a new folder."""
    folder.mkdir()
    pieces = [*SYLLABLES, "who", "what", "none", "é"]
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, *(f"##{piece}" for piece in pieces)]
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n")
    tokenizer = BertTokenizer.from_pretrained(folder, do_lower_case=True, strip_accents=False)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(vocab), max_position_embeddings=64, initializer_range=0.1, **SHAPE)
    BertForPreTraining(config).save_pretrained(folder)
    return folder


def asked(context: str, *answers: str, question: str = "who", name: str = "1", **more: Any) -> SpanExample:
    """An example whose answers stand where they first stand in the context."""
    found = [Answer(text=text, start=context.index(text)) for text in answers]
    return SpanExample(id=name, document=None, question=question, context=context, answers=found, **more)


def learnable(generator: random.Random, name: str, unanswerable: float = 0.0) -> SpanExample:
    """Words of one syllable, among them one answer to each question."""
    words = [generator.choice(SYLLABLES[4:]) for _ in range(generator.randrange(3, 13))]
    answers = {"who": generator.choice(SYLLABLES[:2]), "what": generator.choice(SYLLABLES[2:4])}
    for answer in answers.values():
        words.insert(generator.randrange(len(words)), answer.title())
    context, question = " ".join(words), generator.choice(list(answers))
    if generator.random() < unanswerable:
        return asked(context, question="none", name=name)
    return asked(context, answers[question].title(), question=question, name=name)
