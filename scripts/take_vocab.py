"""Copy the vocabulary that was released with a model.

    .venv/bin/python scripts/take_vocab.py --model models/MODEL --output vocabs/VOCAB

Input: a model's folder, as scripts/export_model.py makes it.
Output: the folder vocabs/VOCAB with the tokenizer's files and diagnosis.json; readable only by its owner if
the model is.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.programs import program
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.diagnosis import import_vocab


def main(model: Annotated[Path, "folder of the model"], output: Annotated[Path, "folder to write"]) -> None:
    keep_private([model])
    diagnosis = import_vocab(model, output)
    print(f"{output}: {diagnosis['size']} pieces")


if __name__ == "__main__":
    run(limited(program(main)))
