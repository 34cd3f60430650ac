"""Packing: `datasets.map` as in run_mlm.py of transformers, and pubmill, on the same documents.

    .venv/bin/python benchmarks/packing.py [--quick] [--punkt punkt_tab.zip] [--text abstracts.jsonl.gz]

The peer tokenizes the texts and groups their ids into blocks of 512, in Arrow files on disk; pubmill writes
packed tokens. `encoding`: whole documents, as in run_mlm.py. `packing`: both first split them into sentences,
the peer with NLTK's Punkt. `splitting`: that step alone. Both have one process with one thread, and ratios
compare processor seconds. `bytes`: bytes on disk per token. Without --quick also `processes`: two processes
against one (wall clock), and the other kinds of vocabulary against calls of their tokenizer. Without --punkt,
sentence splitting uses empty tables. The text is that of benchmarks/vocabs.py, or that of --text (JSON lines
with a key `abstract`). Last lines: `name: ratio`.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_DATASETS_OFFLINE"] = "1"

from nltk.tokenize.punkt import PunktSentenceTokenizer

from benchmarks.vocabs import make_texts, write_parts
from pubmill.examples.sentences import FOLDER, TABLES, SentenceSplitter, read_punkt
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.pretraining.encoding import make_encoder, special_ids
from pubmill.pretraining.packing import pack, pack_documents
from pubmill.recipes import VocabRecipe
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.storage.files import read_jsonl_gz
from pubmill.vocabs.training import train
from pubmill.vocabs.word_counts import write_counts
from tests.unit.toy_shards import write_packed

BLOCK = 512
OTHERS = {
    "byte-level": VocabRecipe(kind="byte-level-bpe", size=8_000, lowercase=False),
    "sentencepiece": VocabRecipe(
        kind="sentencepiece", size=8_000, lowercase=True, learner="sentencepiece-unigram"
    ),
}


def interleaved(
    rounds: int, works: dict[str, Callable[[], object]], clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Run the functions in alternating rounds; return the median seconds of each."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            begin = clock()
            work()
            times[name].append(clock() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def empty_punkt(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for table in TABLES:
            archive.writestr(f"{FOLDER}/{table}", "")
    return path


def make_vocab(folder: Path, name: str, parts: list[Path], recipe: VocabRecipe) -> Path:
    counts = [folder / name / "words" / part.name for part in parts]
    for part, output in zip(parts, counts, strict=True):
        write_counts(part, recipe.splitting(), output)
    train(recipe, counts, folder / name / "vocab")
    return folder / name / "vocab"


def run_mlm(
    texts: list[str], vocab: Path, folder: Path, split: Callable[[str], list[str]] | None = None
) -> tuple[int, int]:
    """Prepare texts as run_mlm.py does before training; return the tokens in its blocks and bytes on disk."""
    from datasets import Dataset, disable_progress_bars
    from transformers import AutoTokenizer  # imported here so that the packing processes start without it

    disable_progress_bars()
    tokenizer = AutoTokenizer.from_pretrained(vocab)

    def parts(texts: list[str]) -> list[str]:
        return [part for text in texts for part in split(text)] if split else texts

    def group(examples: dict[str, list[list[int]]]) -> dict[str, list[list[int]]]:
        joined = {name: list(chain(*lists)) for name, lists in examples.items()}
        whole = len(joined["input_ids"]) // BLOCK * BLOCK
        return {name: [ids[i : i + BLOCK] for i in range(0, whole, BLOCK)] for name, ids in joined.items()}

    for old in folder.glob("*.arrow"):
        old.unlink()
    tokenized = Dataset.from_dict({"text": texts}).map(
        lambda examples: tokenizer(parts(examples["text"]), return_special_tokens_mask=True),
        batched=True,
        remove_columns=["text"],
        cache_file_name=str(folder / "tokenized.arrow"),
    )
    blocks = tokenized.map(group, batched=True, cache_file_name=str(folder / "blocks.arrow"))
    return len(blocks) * BLOCK, (folder / "blocks.arrow").stat().st_size


def write(texts: list[str], vocab: Path, split: Callable[[str], list[str]], output: Path) -> tuple[int, int]:
    """Pack texts with pubmill; return the number of tokens and of bytes on disk."""
    tokenizer = load_tokenizer(vocab)
    encoder = make_encoder(tokenizer)
    shards = (pack_documents(texts[i : i + 5000], split, encoder) for i in range(0, len(texts), 5000))
    index = write_packed(output, shards, tokenizer.get_vocab_size(), special_ids(tokenizer, vocab))
    return index["tokens"], sum(path.stat().st_size for path in output.iterdir())


def calls(texts: list[str], vocab: Path) -> None:
    """Call the tokenizer with its own batches."""
    tokenizer = load_tokenizer(vocab)
    for begin in range(0, len(texts), 1000):
        tokenizer.encode_batch_fast(texts[begin : begin + 1000], add_special_tokens=False)


def main() -> None:
    parser = argparse.ArgumentParser(description="Packing: datasets.map against pubmill.")
    parser.add_argument("--quick", action="store_true", help="little text, under a minute, one process")
    parser.add_argument("--punkt", type=Path, help="NLTK's punkt_tab.zip")
    parser.add_argument("--text", type=Path, help="abstracts as JSON lines, gzipped")
    arguments = parser.parse_args()
    if arguments.text:
        texts = [row["abstract"] for row in read_jsonl_gz(arguments.text) if row["abstract"]]
    else:
        texts = make_texts(5_000 if arguments.quick else 30_000, 50_000)
    with tempfile.TemporaryDirectory() as name:
        punkt = arguments.punkt or empty_punkt(Path(name) / "punkt_tab.zip")
        measure(Path(name), texts, punkt, arguments.quick)


def measure(folder: Path, texts: list[str], punkt: Path, quick: bool) -> None:
    parts, splitter = write_parts(folder, texts), SentenceSplitter(punkt)
    nltk = PunktSentenceTokenizer(read_punkt(punkt)).tokenize
    vocab = make_vocab(folder, "bert", parts, VocabRecipe(kind="wordpiece", size=8_000, lowercase=True))
    others = {name: make_vocab(folder, name, parts, recipe) for name, recipe in OTHERS.items() if not quick}
    tokens: dict[str, tuple[int, int]] = {}

    def noted(name: str, work: Callable[[], tuple[int, int]]) -> Callable[[], None]:
        return lambda: tokens.update({name: work()})

    def processes(count: int) -> Callable[[], object]:
        return lambda: pack(PackingRecipe(), parts, vocab, punkt, folder / "tokens", count)

    works: dict[str, Callable[[], object]] = {
        "run_mlm": noted("run_mlm", lambda: run_mlm(texts, vocab, folder)),
        "run_mlm and NLTK": noted("run_mlm and NLTK", lambda: run_mlm(texts, vocab, folder, nltk)),
        "NLTK": lambda: [nltk(text) for text in texts],
        "splitting": lambda: [splitter.split(text) for text in texts],
        "encoding": noted("encoding", lambda: write(texts, vocab, str.splitlines, folder / "packed")),
        "packing": noted("packing", lambda: write(texts, vocab, splitter.split, folder / "packed")),
    }
    for name, other in others.items():
        works[f"{name} calls"] = partial(calls, texts, other)
        works[name] = partial(write, texts, other, str.splitlines, folder / "packed")
    seconds = interleaved(3, works)
    megabytes = sum(map(len, texts)) / 1e6
    for name, value in seconds.items():
        print(f"{name}: {megabytes / value:.1f} MB/s")
    for name, (count, size) in tokens.items():
        print(f"{name}: {count / seconds[name] / 1e6:.2f} M tokens/s, {size / count:.2f} bytes a token")
    print(f"bytes: {tokens['encoding'][1] / tokens['encoding'][0]:.2f}")
    print(f"encoding: {seconds['run_mlm'] / seconds['encoding']:.2f}")
    print(f"packing: {seconds['run_mlm and NLTK'] / seconds['packing']:.2f}")
    print(f"packing against run_mlm without sentences: {seconds['run_mlm'] / seconds['packing']:.2f}")
    print(f"splitting: {seconds['NLTK'] / seconds['splitting']:.2f}")
    for name in others:
        print(f"{name}: {seconds[f'{name} calls'] / seconds[name]:.2f}")
    if not quick:
        both = interleaved(3, {"one": processes(1), "two": processes(2)}, time.perf_counter)
        print(f"processes: {both['one'] / both['two']:.2f}")


if __name__ == "__main__":
    main()
