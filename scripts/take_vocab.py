"""Copy the vocabulary that was released with a model.

    .venv/bin/python scripts/take_vocab.py --model models/MODEL --output vocabs/VOCAB

Input: a model's folder, as scripts/export_model.py makes it.
Output: the folder vocabs/VOCAB with the tokenizer's files and diagnosis.json; readable only by its owner if
the model is.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.diagnosis import import_vocab


def main() -> None:
    parser = argparse.ArgumentParser(description="Copy the vocabulary of a released model.")
    parser.add_argument("--model", required=True, type=Path, help="folder of the model")
    parser.add_argument("--output", required=True, type=Path, help="folder to write")
    arguments = parser.parse_args()
    keep_private([arguments.model])
    diagnosis = import_vocab(arguments.model, arguments.output)
    print(f"{arguments.output}: {diagnosis['size']} pieces")


if __name__ == "__main__":
    run(limited(main))
