"""Inputs beyond 512 tokens: a recipe may take the length of its model, which cuts no document that fits."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MultilabelExample, write_examples
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.run import finetune
from tests.unit.finetuning.encoder_families import save_encoder
from tests.unit.toy_tasks import OURS, text

RECIPE = replace(OURS["multilabel"], epochs=1, dropout=0.0, max_length=None)
DOCUMENTS = 3
"""In each of three splits."""
LONGEST = {"modernbert": 1_024, "longformer": 1_024, "nomic-bert": 1_024, "gpt2": 1_024, "bert": 512}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of more than 512 subwords and less than 1,024 for every tokenizer."""
    folder, draw = tmp_path_factory.mktemp("documents"), random.Random(0)
    examples = [
        MultilabelExample(id=f"d{n}", document=None, text=text(draw, 420), labels=["ba", "co"][: n % 3])
        for n in range(DOCUMENTS)
    ]
    for split in ("train", "dev", "test"):
        write_examples(folder / f"{split}.jsonl.gz", examples)
    return folder


@pytest.mark.parametrize(
    ("family", "length"),
    [*((family, None) for family in LONGEST), ("modernbert", 8_192), ("modernbert", 512)],
)
def test_documents_are_cut_only_where_the_model_or_the_recipe_reads_no_more(
    family: str, length: int | None, documents: Path, tmp_path: Path
) -> None:
    model = save_encoder(tmp_path / family, family, LONGEST[family])
    made = finetune(FinetuningJob(replace(RECIPE, max_length=length), model, documents, 1, "test"))
    reads = min(length or LONGEST[family], LONGEST[family])
    assert made.report["max_length"] == reads and made.report["failed"] is None
    assert made.report["encoded"]["texts_shortened"] == (3 * DOCUMENTS if reads == 512 else 0)


def test_a_length_left_to_a_model_without_one_is_refused(documents: Path, tmp_path: Path) -> None:
    model = save_encoder(tmp_path / "bloom", "bloom")
    with pytest.raises(
        PubmillError,
        match="null takes the encoder's limit, but bloom has none; set max_length to ",
    ):
        finetune(FinetuningJob(RECIPE, model, documents, 1, "test"))
