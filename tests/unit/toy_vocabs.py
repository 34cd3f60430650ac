"""Small corpora and vocabularies of every kind."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from pubmill.recipes import Splitting, VocabRecipe
from pubmill.vocabs.training import train
from pubmill.vocabs.word_counts import Counted, count_part, write_counts

TEXTS = [
    "Interleukin-2 (IL-2) activates T cells. Café au lait spots were seen.",
    "IL-2 activation of the T-cell receptor;\nactivated cells activate cells, don't they?",
    "Effects of β-blockers on 12.5% of patients: the effect was  effective.",
] * 3

RECIPES = {
    "uncased": VocabRecipe(kind="wordpiece", size=120, lowercase=True),
    "cased": VocabRecipe(kind="wordpiece", size=120, lowercase=False),
    "biomegatron": VocabRecipe(kind="wordpiece", size=130, lowercase=False, learner="sentencepiece-unigram"),
    "biomegatron-bpe": VocabRecipe(kind="wordpiece", size=130, lowercase=False, learner="sentencepiece-bpe"),
    "byte-level": VocabRecipe(kind="byte-level-bpe", size=300, lowercase=False),
    "albert": VocabRecipe(kind="sentencepiece", size=100, lowercase=True, learner="sentencepiece-unigram"),
    "sentencepiece-bpe": VocabRecipe(
        kind="sentencepiece", size=100, lowercase=False, learner="sentencepiece-bpe"
    ),
}


def write_part(path: Path, texts: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"title": ["t"] * len(texts), "text": pa.array(texts, pa.string())}), path)
    return path


def count_texts(texts: list[str], splitting: Splitting) -> Counted:
    """The words of texts as of a part that holds them."""
    with TemporaryDirectory() as folder:
        part = write_part(Path(folder) / "part-0000.parquet", texts)
        return count_part(part, splitting, Path(folder) / "spill")


def make_vocab(folder: Path, recipe: VocabRecipe, texts: list[str] = TEXTS) -> Path:
    """A vocabulary learnt from texts, in `folder/vocab`."""
    counts = folder / "words" / "part-0000.parquet"
    write_counts(write_part(folder / "part-0000.parquet", texts), recipe.splitting(), counts)
    train(recipe, [counts], folder / "vocab")
    return folder / "vocab"
