"""Split a corpus into sentences and pack it as token ids for pretraining.

    .venv/bin/python scripts/pack.py --recipe JSON --corpus corpora/CORPUS --parts N --vocab vocabs/VOCAB
        --punkt punkt_tab.zip --output pretraining/tokens/CORPUS/VOCAB

Inputs: the parts of a corpus, a vocabulary of any kind, NLTK's punkt_tab.zip, and the recipe
(pubmill.recipes.pretraining.PackingRecipe).
Output: the folder of packed tokens (described in pubmill.pretraining.packed_tokens), readable only by its
owner if a part or the vocabulary is. Parts are packed on all cores that the job may use; the bytes do not
depend on the number of cores. If the folder is there already, the tokens of parts that have not changed are
taken from it.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.pretraining.packed_tokens import HELD_OUT
from pubmill.pretraining.packing import pack, useful_processes
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.recipes.programs import program
from pubmill.storage.parquet import access_of_parts, part_files
from pubmill.storage.privacy import keep_private


def main(
    recipe: PackingRecipe,
    corpus: Annotated[Path, "folder of the corpus, with its parts"],
    parts: Annotated[int, "number of parts"],
    vocab: Annotated[Path, "folder of the vocabulary"],
    punkt: Annotated[Path, "NLTK's punkt_tab.zip"],
    output: Annotated[Path, "folder to write"],
    processes: Annotated[int | None, "default: the number of cores that this job has"] = None,
    version: Annotated[str, "version of the packing; tokens of another one are not kept"] = "",
) -> None:
    files = part_files(corpus, parts)
    keep_private([*files, vocab], access_of_parts(files))
    index = pack(recipe, files, vocab, punkt, output, processes or useful_processes(files), version)
    print(
        f"{output}: {index['tokens']} tokens in {index['sentences']} sentences of "
        f"{index['documents']} documents; left out as empty: {index['empty_sentences']} sentences, "
        f"{index['empty_documents']} documents; held out: {index[HELD_OUT]['documents']} documents; "
        f"{index['encoded']} of {parts} parts encoded, the others copied"
    )


if __name__ == "__main__":
    run(program(main))
