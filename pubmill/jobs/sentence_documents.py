"""Find the documents of a dataset's sentences in PubTator files of the same corpus: a line for each sentence
whose document is found, with its split, id and document."""

from pathlib import Path

from pubmill.convert.sentence_documents import documents_of, read_documents
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.recipes.datasets import SentencesRecipe
from pubmill.storage.files import write_jsonl_gz


def main(recipe: SentencesRecipe, copies: list[Path], examples: Path, output: Path) -> None:
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
