"""Find the documents of a dataset's sentences and the identifiers of their mentions.

    .venv/bin/python scripts/concepts.py --recipe JSON --copies FILE ... \\
        --examples results/full/datasets/bc5-chem --output results/full/concepts/bc5-chem.jsonl.gz

Inputs: the examples of the dataset, and PubTator files of the same corpus with identifiers.
Output: a line for each sentence whose document is found: its split, id and document, and the identifiers of
its mentions by their words. The examples stay as they are.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.convert.concepts import concepts_of, read_documents
from pubmill.errors import PubmillError, run
from pubmill.examples.concept_files import Concepts, write_concepts
from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.examples.tagging import to_mentions
from pubmill.hardware.process_limits import limited
from pubmill.recipes.datasets import ConceptsRecipe

Examples = dict[str, list[TokensExample]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="JSON text or file: a ConceptsRecipe")
    parser.add_argument("--copies", required=True, nargs="+", type=Path, help="PubTator files")
    parser.add_argument("--examples", required=True, type=Path, help="folder of the examples")
    parser.add_argument("--output", required=True, type=Path, help="file to write (.jsonl.gz)")
    arguments = parser.parse_args()
    recipe = recipes.read(ConceptsRecipe, arguments.recipe)
    examples: Examples = {
        split: list(read_examples(arguments.examples / f"{split}.jsonl.gz", TokensExample))
        for split in recipe.splits
    }
    found = concepts_of(examples, [one for path in arguments.copies for one in read_documents(path)])
    if not any(found.values()):
        names = ", ".join(path.name for path in arguments.copies)
        raise PubmillError(f"no sentence of {recipe.dataset} is in {names}; are these of the same corpus?")
    write_concepts(arguments.output, found, private=recipe.access != "public")
    report(recipe.dataset, examples, found)


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
    run(limited(main))
