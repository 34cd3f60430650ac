"""Speed of converting datasets from their files to examples, and of reading CoNLL files compared with NLTK.

    .venv/bin/python benchmarks/datasets.py MIRROR  every dataset whose files are in it (HOST/PATH, local/KEY)
    .venv/bin/python benchmarks/datasets.py --quick   the miniature world's, under a minute

Converting means reading, checking, counting and writing. MB are those of the source files as published
(possibly compressed); times are medians of three rounds. Last line: `conll: ratio`, the processor time of
NLTK's reader divided by ours, in alternating rounds, on one file of words and labels.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nltk.corpus.reader import ConllCorpusReader
from nltk.data import path as nltk_paths

from pubmill.convert.conll import read
from pubmill.convert.dataset import convert
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.recipes.datasets import ConversionRecipe
from pubmill.specs import load
from pubmill.stages.dataset_recipes import conversion_recipe
from tests.dataset_specs import SPECS, inputs_of
from tests.world import write_world

TURNS = 3
CONLL, CONLL_BYTES = "bc5-chem", 3_000_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mirror", nargs="?", type=Path, help="folder with HOST/PATH of each source")
    parser.add_argument("--quick", action="store_true", help="the miniature world, under a minute")
    arguments = parser.parse_args()
    if arguments.quick == bool(arguments.mirror):
        parser.error("give either MIRROR or --quick")
    with tempfile.TemporaryDirectory() as name:
        mirror = arguments.mirror or Path(name) / "mirror"
        if arguments.quick:
            write_world(mirror)
        for dataset, spec in load(SPECS.parent, "demo" if arguments.quick else "full").datasets.items():
            inputs = inputs_of(dataset, mirror)
            if all(path.is_file() for path in inputs.values()):
                recipe = conversion_recipe(dataset, spec)
                print(f"{dataset}: {speed(recipe, inputs, Path(name) / 'output')}", flush=True)
        beside_nltk(mirror, Path(name))


def speed(recipe: ConversionRecipe, inputs: dict[str, Path], output: Path) -> str:
    seconds = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        try:
            card = convert(recipe, inputs, output)
        except PubmillError as error:
            return f"not converted: {str(error).splitlines()[0]}"
        seconds.append(time.perf_counter() - begin)
    counts = card["counts"].values()
    examples = sum(one.get("examples", one.get("sentences", 0)) for one in counts)
    megabytes = sum(path.stat().st_size for path in set(inputs.values())) / 1e6
    took = statistics.median(seconds)
    return (
        f"{examples} examples in {took:.2f} s, {examples / took:.0f} examples/s, {megabytes / took:.1f} MB/s"
    )


def beside_nltk(mirror: Path, folder: Path) -> None:
    source = inputs_of(CONLL, mirror)["train"].read_bytes()
    path = folder / "train.tsv"
    path.write_bytes(source * (CONLL_BYTES // len(source) + 1))

    nltk_paths.append(str(folder))  # NLTK reads from nowhere else

    def nltk() -> int:
        reader = ConllCorpusReader(str(folder), path.name, ("words", "pos"), separator="\t")
        return sum(1 for _ in reader.tagged_sents())

    def pubmill() -> int:
        return sum(
            1 for _ in read(ConverterInput("train", {"train": path}, {"labels": "as_written"}, Counter()))
        )

    assert nltk() == pubmill(), "the two readers find different sentences"
    seconds: dict[Callable[[], int], list[float]] = {nltk: [], pubmill: []}
    for _ in range(TURNS):
        for reader, times in seconds.items():
            begin = time.process_time()
            reader()
            times.append(time.process_time() - begin)
    theirs, ours = (statistics.median(times) for times in seconds.values())
    megabytes = path.stat().st_size / 1e6
    print(f"reading CoNLL: NLTK {megabytes / theirs:.1f} MB/s, pubmill {megabytes / ours:.1f} MB/s")
    print(f"conll: {theirs / ours:.2f}")


if __name__ == "__main__":
    main()
