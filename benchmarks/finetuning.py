"""Speed of fine-tuning: transformers' Trainer against pubmill, interleaved in one run; and their scores.

    .venv/bin/python benchmarks/finetuning.py [--quick] [--mirror FOLDER [--model FOLDER]]
    .venv/bin/python benchmarks/finetuning.py --three-epochs [--mirror FOLDER]

`--three-epochs` repeats Table 3 of alrowili2021 and needs a GPU.
The data are relations as in ChemProt (dummies, one label per sentence) and entities as in NCBI-disease, in
batches of 32. These programs train the same random model:
- padded: transformers' Trainer as run_classification.py and run_ner.py use it with --pad_to_max_length, to
  256 and 128 tokens;
- dynamic: the same without that option, so each batch is padded to its longest example;
- ours: pubmill.finetuning;
- ours, float32 (on a processor): the same without bfloat16, to show how much of the speed bfloat16 explains.
On a processor the model is a BERT with 4 layers and hidden size 256; the Trainer computes in float32, its
default, and ours in the precision that `auto` selects. Times are processor seconds of one thread, so that
other work on the machine has little effect. On a GPU the model is a BERT-base, all compute in bfloat16, times
are measured by the wall clock, and peak memory is shown.

With --mirror (HOST/PATH of each source) the sentences are the real ones, split by a WordPiece vocabulary of
8,000 that is learnt from them. Without it, they are made up, with the lengths of the real ones (`LENGTHS`).
Token counts exclude padding. The Trainer needs accelerate, which `make bench BENCH=finetuning` installs;
without it, benchmarks/trainers_loop.py stands for it. FILE (--output) gets the last lines as JSON, and
on a GPU the operations a second of ours, from which `pubmill plan` takes the hours of fine-tuning.
The next lines are ratios of medians: examples per second of ours over those of the Trainer.

With --mirror or on a GPU, and without --quick, dynamic and ours are then trained on the same part of train
with three seeds each, with the same schedule, from the random model or a pretrained BERT (--model). The last
lines are scores on the same part of dev: micro F1 of ChemProt's labels without the negative one, F1 of
NCBI-disease's entities. In ChemProt's parts, all labels are equally frequent as far as there are enough
examples. Scored runs use all cores; on a busy machine OMP_NUM_THREADS=1 is faster.
"""

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

# Replaces this folder, whose datasets.py transformers would import instead of the library of that name.
sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import torch
import transformers
from transformers import TrainingArguments

from benchmarks import trainers_loop
from benchmarks.cuda_settings import production_settings
from benchmarks.finetuning_texts import CLASSES, Examples, Work, joined, mentions, relations, write_model
from pubmill.finetuning.encoders import load_encoder, load_encoder_tokenizer
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.predicting import make_reader
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.trainer import Trainer
from pubmill.metrics import dev_score
from pubmill.pretraining.arithmetic import BASE, operations, shape_of
from pubmill.storage.files import write_json

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
ACCELERATE = importlib.util.find_spec("accelerate") is not None
IGNORED = -100
FAILED = " failed: "
SEEDS = (1, 2, 3)
ROWS: list[dict[str, Any]] = []
"""Speeds that `pubmill plan` reads, one of each dataset."""
SCORED_RATE = 5e-5 if ON_GPU else 5e-4


def now() -> float:
    if ON_GPU:
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


class Clock(transformers.TrainerCallback):
    """Seconds of a training, excluding the Trainer's work before and after it."""

    begun = seconds = 0.0

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self.begun = now()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self.seconds = now() - self.begun


class TrainersWay:
    """transformers' Trainer as the example programs use it; `padded`: pad to the recipe's `max_length`."""

    def __init__(self, work: Work, model: Path, padded: bool, seed: int = 1) -> None:
        self.work, self.padded, self.clock = work, padded, Clock()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        self.sequence = work.recipe.task == "sequence"
        how = "padded" if padded else "dynamic"
        features = timed(f"{work.name}, {how}", len(work.train), lambda: self.features(work.train))
        transformers.set_seed(seed)
        self.folder = tempfile.TemporaryDirectory()
        self.train_features, self.model = features, self.load(model)
        self.trainer = self.make_trainer(seed) if ACCELERATE else None

    def make_trainer(self, seed: int) -> Any:
        trainer = transformers.Trainer(
            model=self.model,
            args=self.arguments(seed),
            train_dataset=self.train_features,
            data_collator=self.collator(),
            callbacks=[self.clock],
        )
        trainer.remove_callback(transformers.PrinterCallback)
        return trainer

    def load(self, model: Path) -> Any:
        kind = (
            transformers.AutoModelForSequenceClassification
            if self.sequence
            else transformers.AutoModelForTokenClassification
        )
        dropout = self.work.recipe.dropout  # a BERT may have been pretrained with a different dropout
        return kind.from_pretrained(
            model,
            num_labels=len(CLASSES[self.work.name]),
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )

    def arguments(self, seed: int) -> TrainingArguments:
        recipe = self.work.recipe
        return TrainingArguments(
            output_dir=self.folder.name,
            per_device_train_batch_size=recipe.batch_size,
            per_device_eval_batch_size=recipe.batch_size,
            num_train_epochs=recipe.epochs,
            learning_rate=recipe.learning_rate,
            warmup_steps=recipe.warmup,
            seed=seed,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=not ON_GPU,
            bf16=ON_GPU,
            dataloader_pin_memory=ON_GPU,
        )

    def collator(self) -> Any:
        if self.padded:
            return transformers.default_data_collator
        if self.sequence:
            return transformers.DataCollatorWithPadding(self.tokenizer)
        return transformers.DataCollatorForTokenClassification(self.tokenizer)

    def features(self, examples: Examples) -> Any:
        """Encode texts and labels as the example programs do: a word's first subword carries its label."""
        encoded = self.tokenizer(
            examples.texts,
            padding="max_length" if self.padded else False,
            max_length=self.work.recipe.max_length,
            truncation=True,
            is_split_into_words=not self.sequence,
        )
        classes = CLASSES[self.work.name]
        features = []
        for number, example in enumerate(examples.of):
            feature = {key: encoded[key][number] for key in encoded}
            if self.sequence:
                feature["label"] = classes[example.label]
            else:
                words = first_subwords(encoded.word_ids(number))
                feature["labels"] = [IGNORED if w is None else classes[example.labels[w]] for w in words]
            features.append(feature)
        return features

    def epoch(self) -> float:
        """Train; returns the seconds that it took."""
        if self.trainer is None:
            recipe = self.work.recipe
            return trainers_loop.train(self.model, self.train_features, self.collator(), recipe, DEVICE)
        self.trainer.train()
        return self.clock.seconds

    def score(self) -> float:
        """Of what is predicted of dev now."""
        examples, names = self.work.dev.of, list(CLASSES[self.work.name])
        features = self.features(self.work.dev)
        if self.trainer is None:
            found = trainers_loop.predict(self.model, features, self.collator(), DEVICE)
        else:
            found = np.asarray(self.trainer.predict(features).predictions).argmax(-1)
        if self.sequence:
            return dev_score("micro_f1", "sequence", examples, [names[i] for i in found], "false")
        predicted = []
        for example, feature, row in zip(examples, features, found, strict=True):
            labels = [names[i] for i, true in zip(row, feature["labels"], strict=False) if true != IGNORED]
            # Truncated words; every word in these data has a subword.
            predicted.append(labels + ["O"] * (len(example.words) - len(labels)))
        return dev_score("entity_f1", "tokens", examples, predicted, None)


def first_subwords(words: list[int | None]) -> list[int | None]:
    """Return the word of each subword that is the first of its word; None for all other subwords."""
    return [None if word == before else word for before, word in pairwise([None, *words])]


class Ours:
    """pubmill's training."""

    def __init__(self, work: Work, model: Path, seed: int = 1) -> None:
        self.work, kind = work, TASKS[work.recipe.task]
        encoder = load_encoder(model, work.recipe.dropout, DEVICE)
        tokenizer = load_encoder_tokenizer(model, words=work.recipe.spaced_words)
        reader = make_reader(work.recipe, tokenizer, encoder)
        self.task = kind(work.recipe, reader, kind.labels_of(work.recipe, work.train.of))
        name = f"{work.name}, ours"
        self.split = timed(name, len(work.train), lambda: self.task.encode_split(work.train.of, learn=True))
        self.task.prepare(work.train.of, self.split.encoded.instances)
        torch.manual_seed(seed)
        made = TaskModel(encoder, self.task.head(int(encoder.config.hidden_size))).to(DEVICE)
        self.trainer = Trainer(work.recipe, self.task, made, seed)

    def epoch(self) -> float:
        """Train; return the seconds that it took. Raises a RuntimeError if a planned method does not work."""
        with production_settings(deterministic=True):
            begun = now()
            self.trainer.train(self.split, None)
            took, how = now() - begun, self.trainer.describe_execution()
        if refused := how.get("update_refused") or how.get("graphs_refused"):
            raise RuntimeError(refused)
        return took

    def score(self) -> float:
        """Of what is predicted of dev now."""
        dev = self.task.encode_split(self.work.dev.of)
        return self.task.dev_score(self.work.dev.of, self.trainer.predict(dev))


def timed(name: str, examples: int, encode: Callable[[], Any]) -> Any:
    """Return the result of `encode`; print its speed."""
    begun, encoded = time.perf_counter(), encode()
    print(f"{name}: texts to ids, {examples / (time.perf_counter() - begun):,.0f} examples/s", flush=True)
    return encoded


def compare(work: Work, model: Path, rounds: int) -> list[str]:
    """Print the speed of each program on one dataset; return the lines of their ratios."""
    runs: dict[str, TrainersWay | Ours] = {
        "padded": TrainersWay(work, model, padded=True),
        "dynamic": TrainersWay(work, model, padded=False),
        "ours": Ours(work, model),
    }
    if not ON_GPU:
        runs["ours, float32"] = Ours(replace(work, recipe=replace(work.recipe, precision="float32")), model)
    reader = Reader(load_encoder_tokenizer(model), work.recipe.max_length or 512, "separate")
    lengths = [min(len(s.ids) + 2, reader.max_length) for s in reader.subwords(joined(work.train.texts))]
    tokens = sum(lengths)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    peaks = dict.fromkeys(runs, 0.0)
    for _ in range(rounds):
        for name, way in runs.items():
            if ON_GPU:
                torch.cuda.reset_peak_memory_stats()
            seconds[name].append(way.epoch())
            peaks[name] = torch.cuda.max_memory_allocated() / 2**20 if ON_GPU else 0.0
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, took in medians.items():
        memory = f", peak {peaks[name]:,.0f} MiB" if ON_GPU else ""
        speed = f"{len(work.train) / took:,.1f} examples/s, {tokens / took:,.0f} tokens/s"
        print(f"{work.name}, {name}: {speed}{memory}", flush=True)
    if ON_GPU:
        ROWS.append(row_of(work, lengths, medians["ours"]))
    fixed = {"padded": f"padded to {work.recipe.max_length}", "dynamic": "dynamic"}
    return [
        f"{work.name}, {name} over {label}: {medians[peer] / medians[name]:.2f}"
        for name in runs
        if name not in fixed
        for peer, label in fixed.items()
    ]


def row_of(work: Work, lengths: Sequence[int], seconds: float) -> dict[str, Any]:
    """Return the speed of our training on examples of these lengths in tokens, for plans: operations as
    pubmill/pretraining/arithmetic.py counts those of a fine-tuned BERT-base, without padding."""
    tokens, squares = sum(lengths), sum(length**2 for length in lengths)
    needed = operations(shape_of(BASE, 30_522), tokens, squares, tokens, whole=True)
    return {
        "name": work.name,
        "kind": work.recipe.task,
        "model": "BERT-base",
        "tokens": round(tokens / len(lengths), 1),
        "examples_per_second": round(len(lengths) / seconds, 1),
        "operations_per_second": needed / seconds,
    }


def scored(work: Work) -> Work:
    """The part of the examples, and the training, that make scores differ from 0 in minutes."""
    if work.recipe.task == "sequence":
        train, dev, epochs = work.train.balanced(128), work.dev.balanced(60), 4
    else:
        train, dev, epochs = work.train.first(960), work.dev.first(400), 3
    return replace(
        work,
        train=train,
        dev=dev,
        recipe=replace(work.recipe, learning_rate=SCORED_RATE, epochs=epochs),
    )


def scores(work: Work, model: Path, threads: int) -> list[str]:
    """Lines of the scores on dev of both, after the same training by so many threads, and of their
    difference."""
    torch.set_num_threads(threads)
    work = scored(work)
    found: dict[str, list[float]] = {"dynamic": [], "ours": []}
    for seed in SEEDS:
        for name, values in found.items():
            way = TrainersWay(work, model, False, seed) if name == "dynamic" else Ours(work, model, seed)
            way.epoch()
            values.append(way.score())
            print(f"{work.name}, {name}, seed {seed}: {values[-1]:.4f}", flush=True)
    lines = []
    for name, values in found.items():
        each = ", ".join(f"{value:.4f}" for value in values)
        lines.append(
            f"{work.name}, {name}: {work.recipe.metric} on dev {statistics.fmean(values):.4f}, "
            f"standard deviation {statistics.stdev(values):.4f} ({each})"
        )
    difference = statistics.fmean(found["ours"]) - statistics.fmean(found["dynamic"])
    return [*lines, f"{work.name}, ours less dynamic: {difference:+.4f}"]


def three_epochs(mirror: Path | None, folder: Path) -> None:
    """Time alrowili2021 Table 3, from reading the texts to the last step.

    All of ChemProt's train, 3 epochs, batches of 32, 128 tokens; published: 3:01 minutes on an RTX 3090 with
    ELECTRA-base.
    """
    work = relations(mirror)
    model = write_model(folder / "model", work.train.texts, learn=mirror is not None, small=False)
    begun = time.perf_counter()
    Ours(replace(work, recipe=replace(work.recipe, max_length=128, epochs=3)), model).epoch()
    minutes, seconds = divmod(round(time.perf_counter() - begun), 60)
    print(f"{len(work.train)} examples on {torch.cuda.get_device_name()}")
    print(f"three epochs of ChemProt, minutes: {minutes}:{seconds:02d}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    parser.add_argument("--mirror", type=Path, help="folder with HOST/PATH of the datasets' sources")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    parser.add_argument("--model", type=Path, help="pretrained BERT from which the scored runs start")
    parser.add_argument("--three-epochs", action="store_true", help="time of alrowili2021 Table 3, on a GPU")
    arguments = parser.parse_args()
    if arguments.three_epochs and not ON_GPU:
        parser.error("--three-epochs needs a GPU that torch finds; on a processor it would take hours")
    if not ACCELERATE:
        print("accelerate is missing: the Trainer's own loop stands for it (benchmarks/trainers_loop.py)")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # of several, those that wait for each other would use processor time too
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as name:
        if arguments.three_epochs:
            return three_epochs(arguments.mirror, Path(name))
        number = (64 if arguments.quick else 1024) * (8 if ON_GPU else 1)
        scored = (bool(arguments.mirror) or ON_GPU) and not arguments.quick
        lines: list[str] = []
        for work in (relations(arguments.mirror), mentions(arguments.mirror)):
            real = arguments.mirror is not None
            model = write_model(Path(name) / work.name, work.train.texts, learn=real, small=not ON_GPU)
            part = replace(work, train=work.train.first(number))
            stages = [partial(compare, part, model, 1 if arguments.quick else 3)]
            if scored:
                stages.append(partial(scores, work, arguments.model or model, threads))
            for stage in stages:
                lines += lines_of(work.name, stage)
                if arguments.output:  # after each, as the time of a call may end before the last one
                    write_figures(arguments.output, lines)
    print("\n".join(lines))
    sys.exit(any(FAILED in line for line in lines))


def lines_of(name: str, stage: Callable[[], list[str]]) -> list[str]:
    """Return the lines of a stage, or why it failed."""
    try:
        return stage()
    except Exception as error:
        traceback.print_exc()
        return [f"{name}{FAILED}{type(error).__name__}: {error}".partition("\n")[0]]
    finally:
        torch.set_num_threads(1)


def write_figures(output: Path, lines: list[str]) -> None:
    """Write the lines so far as JSON."""
    device = torch.cuda.get_device_name() if ON_GPU else "processor"
    figures = dict(line.rsplit(": ", 1) for line in lines if FAILED not in line)
    write_json(output, {"device": device, "accelerate": ACCELERATE, "figures": figures, "rows": ROWS})


if __name__ == "__main__":
    main()
