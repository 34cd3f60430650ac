"""Copy the vocabulary that was released with a model, with its diagnosis.json; readable only by its owner if
the model is."""

from pathlib import Path

from pubmill.hardware.process_limits import limited
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.diagnosis import import_vocab


@limited
def main(model: Path, output: Path) -> None:
    keep_private([model])
    diagnosis = import_vocab(model, output)
    print(f"{output}: {diagnosis['size']} pieces")
