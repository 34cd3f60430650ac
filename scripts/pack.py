"""Split a corpus into sentences and pack it as token ids for pretraining.

    .venv/bin/python scripts/pack.py --recipe JSON --corpus corpora/CORPUS --parts N --vocab vocabs/VOCAB
        --punkt punkt_tab.zip --output pretraining/tokens/CORPUS/VOCAB

Inputs: the parts of a corpus, a vocabulary of any kind, NLTK's punkt_tab.zip, and the recipe
(pubmill.recipes.pretraining.PackingRecipe).
Output: the folder of packed tokens (described in pubmill.pretraining.packed_tokens), readable only by its
owner if a part or the vocabulary is. Parts are packed on all cores that the job may use; the bytes do not
depend on the number of cores.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.pretraining.packed_tokens import HELD_OUT
from pubmill.pretraining.packing import pack, useful_processes
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.storage.corpus_parts import access_of_parts, part_files
from pubmill.storage.privacy import keep_private


def main() -> None:
    parser = argparse.ArgumentParser(description="Pack a corpus as token ids for pretraining.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: a PackingRecipe")
    parser.add_argument("--corpus", required=True, type=Path, help="folder of the corpus, with its parts")
    parser.add_argument("--parts", required=True, type=int, help="number of parts")
    parser.add_argument("--vocab", required=True, type=Path, help="folder of the vocabulary")
    parser.add_argument("--punkt", required=True, type=Path, help="NLTK's punkt_tab.zip")
    parser.add_argument("--output", required=True, type=Path, help="folder to write")
    parser.add_argument("--processes", type=int, help="default: the number of cores that this job has")
    arguments = parser.parse_args()
    parts = part_files(arguments.corpus, arguments.parts)
    keep_private([*parts, arguments.vocab], access_of_parts(parts))
    index = pack(
        recipes.read(PackingRecipe, arguments.recipe),
        parts,
        arguments.vocab,
        arguments.punkt,
        arguments.output,
        arguments.processes or useful_processes(parts),
    )
    print(
        f"{arguments.output}: {index['tokens']} tokens in {index['sentences']} sentences of "
        f"{index['documents']} documents; left out as empty: {index['empty_sentences']} sentences, "
        f"{index['empty_documents']} documents; held out: {index[HELD_OUT]['documents']} documents"
    )


if __name__ == "__main__":
    run(main)
