"""Find the documents of a dataset's sentences and the identifiers of their mentions.

    .venv/bin/python scripts/concepts.py --recipe JSON --copies FILE ... \\
        --examples results/full/datasets/bc5-chem --output results/full/concepts/bc5-chem.jsonl.gz

Inputs: the examples of the dataset, and PubTator files of the same corpus with identifiers.
Output: a line for each sentence whose document is found: its split, id and document, and the identifiers of
its mentions by their words. The examples stay as they are.
"""

from pathlib import Path
from typing import Annotated

from pubmill.convert.concepts import concepts_of, read_documents
from pubmill.errors import PubmillError, run
from pubmill.examples.concept_files import Concepts, write_concepts
from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.examples.tagging import to_mentions
from pubmill.hardware.process_limits import limited
from pubmill.recipes.datasets import ConceptsRecipe
from pubmill.recipes.programs import program

Examples = dict[str, list[TokensExample]]


def main(
    recipe: ConceptsRecipe,
    copies: Annotated[list[Path], "PubTator files"],
    examples: Annotated[Path, "folder of the examples"],
    output: Annotated[Path, "file to write (.jsonl.gz)"],
) -> None:
    gold: Examples = {
        split: list(read_examples(examples / f"{split}.jsonl.gz", TokensExample)) for split in recipe.splits
    }
    found = concepts_of(gold, [one for path in copies for one in read_documents(path)])
    if not any(found.values()):
        names = ", ".join(path.name for path in copies)
        raise PubmillError(f"no sentence of {recipe.dataset} is in {names}; are these of the same corpus?")
    write_concepts(output, found, private=recipe.access != "public")
    report(recipe.dataset, gold, found)


def report(dataset: str, examples: Examples, found: Concepts) -> None:
    """Print how many sentences have a document, and how many mentions have an identifier."""
    for split, ones in examples.items():
        mentions = sum(len(to_mentions(one.labels)) for one in ones)
        named = sum(len(one.identifiers) for one in found[split].values())
        print(
            f"{dataset} {split}: {len(found[split])} of {len(ones)} sentences have a document, "
            f"{named} of {mentions} mentions an identifier"
        )


if __name__ == "__main__":
    run(limited(program(main)))
