"""Split a corpus into sentences and pack it as token ids for pretraining (pubmill.pretraining.packed_tokens),
readable only by its owner if a part or the vocabulary is. The bytes do not depend on the number of processes.
If the folder is there already, the tokens of parts that have not changed are taken from it."""

from pathlib import Path

from pubmill.pretraining.packed_tokens import HELD_OUT
from pubmill.pretraining.packing import pack, useful_processes
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.storage.parquet import access_of_parts, part_files
from pubmill.storage.privacy import keep_private


def main(
    recipe: PackingRecipe,
    corpus: Path,
    parts: int,
    vocab: Path,
    punkt: Path,
    output: Path,
    processes: int | None = None,
    version: str = "",
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
