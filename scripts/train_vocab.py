"""Learn a vocabulary from the word counts of a corpus.

    .venv/bin/python scripts/train_vocab.py --recipe JSON --words corpora/CORPUS/words/SPLITTING --parts N
        --output vocabs/VOCAB

Inputs: the word counts of the parts of a corpus (scripts/count_words.py), and the recipe
(pubmill.recipes.VocabRecipe).
Output: the folder vocabs/VOCAB, which AutoTokenizer loads, with tokenizer.json, tokenizer_config.json, the
vocabulary in the format of its kind (vocab.txt; vocab.json and merges.txt; spiece.model), and diagnosis.json;
readable only by its owner if the counts are.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes import VocabRecipe
from pubmill.recipes.programs import program
from pubmill.storage.parquet import access_of_parts, part_files
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.training import train


def main(
    recipe: VocabRecipe,
    words: Annotated[Path, "folder with the counts of the parts"],
    parts: Annotated[int, "number of parts"],
    output: Annotated[Path, "folder to write"],
) -> None:
    counts = part_files(words, parts)
    keep_private(counts, access_of_parts(counts))
    diagnosis = train(recipe, counts, output)
    print(
        f"{output}: {diagnosis['size']} of {diagnosis['asked']} requested pieces, from "
        f"{diagnosis['documents']} documents; {diagnosis['subwords_per_word']:.3f} pieces per word, "
        f"{diagnosis['unknown_words']:.4%} of words unknown; {diagnosis['pruned_words']} words with fewer "
        f"than {diagnosis['minimum_count']} occurrences left out"
    )


if __name__ == "__main__":
    run(program(main))
