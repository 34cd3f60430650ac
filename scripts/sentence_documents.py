"""Find the documents of a dataset's sentences.

    .venv/bin/python scripts/sentence_documents.py --recipe JSON --copies FILE ... \\
        --examples results/full/datasets/bc5-chem --output results/full/sentence-documents/bc5-chem.jsonl.gz

Inputs: the examples of the dataset, and PubTator files of the same corpus.
Output: a line for each sentence whose document is found: its split, id and document.
"""

from pathlib import Path
from typing import Annotated

from pubmill.convert.sentence_documents import documents_of, read_documents
from pubmill.errors import PubmillError, run
from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.recipes.datasets import SentencesRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import write_jsonl_gz


def main(
    recipe: SentencesRecipe,
    copies: Annotated[list[Path], "PubTator files"],
    examples: Annotated[Path, "folder of the examples"],
    output: Annotated[Path, "file to write (.jsonl.gz)"],
) -> None:
    documents = [one for path in copies for one in read_documents(path)]
    rows: list[dict[str, str]] = []
    for split in recipe.splits:
        gold = list(read_examples(examples / f"{split}.jsonl.gz", TokensExample))
        found = [
            {"split": split, "id": one.id, "document": document}
            for one, document in zip(gold, documents_of(gold, documents), strict=True)
            if document is not None
        ]
        print(f"{recipe.dataset} {split}: {len(found)} of {len(gold)} sentences have a document")
        rows += found
    if not rows:
        names = ", ".join(path.name for path in copies)
        raise PubmillError(f"no sentence of {recipe.dataset} is in {names}; are these of the same corpus?")
    write_jsonl_gz(output, rows, recipe.access != "public")


if __name__ == "__main__":
    run(program(main))
