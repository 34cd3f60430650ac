"""Programs that benchmarks/pretraining.py compares on made-up text: transformers' Trainer and pubmill."""

import gc
import importlib.util
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar
from unittest.mock import patch

import numpy as np
import torch
import transformers

from benchmarks import trainers_loop
from benchmarks.cuda_settings import production_settings
from benchmarks.trainers_loop import WARMING_STEPS
from pubmill.pretraining import engine
from pubmill.pretraining.architectures import build_model
from pubmill.pretraining.arithmetic import operations, shape_of_network
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.instances import ranges
from pubmill.pretraining.masking import Vocabulary
from pubmill.pretraining.methods import Methods
from pubmill.pretraining.packed_tokens import SPECIAL
from pubmill.recipes import PretrainingRecipe
from pubmill.vocabs.wordpiece import make_tokenizer, save

SIZE = 30_522  # BERT's
IDS = {name: number for number, name in enumerate(SPECIAL)}
PIECES = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(("##" if number % 4 == 0 else "") + f"w{number}" for number in range(len(IDS), SIZE)),
]
VOCABULARY = Vocabulary(
    np.array([piece.startswith("##") for piece in PIECES]), np.arange(len(IDS), SIZE), IDS["mask"]
)
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
BACKEND = "inductor" if ON_GPU else "eager"
"""What compiles the Trainer's model: on a processor nothing, which would take minutes and a C++ compiler."""
ACCELERATE = importlib.util.find_spec("accelerate") is not None


def now() -> float:
    """Return wall-clock seconds on a GPU, else processor seconds, on which other work has little effect."""
    if ON_GPU:
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def make_packed(documents: int) -> Any:
    """Make documents of 5 to 13 sentences of about 30 tokens, from a seed."""
    random = np.random.Generator(np.random.PCG64(1))
    counts = random.integers(5, 14, size=documents)
    lengths = np.clip(random.lognormal(3.3, 0.5, size=counts.sum()), 3, 120).astype(np.int64)
    sentences, bounds = (np.concatenate([[0], np.cumsum(part)]) for part in (lengths, counts))
    ids = random.integers(len(IDS), SIZE, size=sentences[-1])
    return SimpleNamespace(ids=ids, sentences=sentences, documents=bounds, special=IDS)


@dataclass(frozen=True)
class Speed:
    """Work done: tokens without padding, the arithmetic operations that they need, and seconds."""

    tokens: float
    flops: float
    seconds: float

    @property
    def per_second(self) -> float:
        """Tokens."""
        return self.tokens / self.seconds


class Way(Protocol):
    """A program that pretrains; `methods`: how it computes a step, in words."""

    @property
    def methods(self) -> str: ...

    def run(self, seconds: float) -> Speed:
        """Run whole steps for at least this many seconds."""


class Ours:
    """pubmill's engine, at most `at_once` sequences at a time, by the fastest methods or by `methods`."""

    def __init__(
        self,
        recipe: PretrainingRecipe,
        packed: Any,
        at_once: int | None = None,
        methods: Methods | None = None,
    ) -> None:
        chosen = patch.object(engine, "fastest", lambda *given: methods) if methods else nullcontext()
        with chosen, production_settings(deterministic=False):
            self.work = Pretraining(recipe, packed, VOCABULARY, World(DEVICE), at_once=at_once)
        self.step = 0

    @property
    def methods(self) -> str:
        return self.work.computation.methods.describe()

    def run(self, seconds: float) -> Speed:
        with production_settings(deterministic=False):
            return self._run(seconds)

    def _run(self, seconds: float) -> Speed:
        tokens = operations = 0.0
        begun = now()
        while True:
            sums = self.work.update(self.step)
            self.step += 1
            tokens, operations = tokens + sums["tokens"], operations + sums["flops"]
            took = now() - begun
            if took >= seconds:
                return Speed(tokens, operations, took)


class Clock(transformers.TrainerCallback):
    """End a training after some seconds; the first steps do not count."""

    wanted = seconds = 0.0
    steps = 0

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == WARMING_STEPS:
            self.begun = now()
        # not `now`, which would make the Trainer wait for the GPU at each step
        elif state.global_step > WARMING_STEPS and self._clock() - self.begun >= self.wanted:
            self.seconds, self.steps = now() - self.begun, state.global_step - WARMING_STEPS
            control.should_training_stop = True

    def _clock(self) -> float:
        return time.perf_counter() if ON_GPU else time.process_time()


class Blocks(torch.utils.data.Dataset[dict[str, list[int]]]):
    """The text as run_mlm.py prepares it: [CLS] document [SEP], concatenated and cut into equal blocks."""

    def __init__(self, packed: Any, length: int) -> None:
        bounds = packed.sentences[packed.documents]
        starts, sizes = bounds[:-1], np.diff(bounds)
        ids = np.full(len(packed.ids) + 2 * len(sizes), IDS["sep"])
        begin = starts + 2 * np.arange(len(sizes))
        ids[begin] = IDS["cls"]
        ids[ranges(begin + 1, sizes)] = packed.ids
        self.rows = ids[: len(ids) // length * length].reshape(-1, length)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> dict[str, list[int]]:
        row = self.rows[number]
        return {
            "input_ids": row.tolist(),
            "token_type_ids": [0] * len(row),
            "attention_mask": [1] * len(row),
            "special_tokens_mask": (row < len(IDS)).astype(int).tolist(),
        }


class TrainersWay:
    """transformers' Trainer as run_mlm.py uses it, on full blocks.

    Two delays of that program are avoided: the collator gets the positions of special tokens, and on a GPU
    other processes make its batches. It uses bfloat16 on a GPU, and float32, its default, on a processor.
    Without accelerate, benchmarks/trainers_loop.py stands for it. `compiled`: with its `torch_compile`.
    """

    def __init__(
        self, recipe: PretrainingRecipe, packed: Any, folder: Path, batch_size: int, compiled: bool = False
    ) -> None:
        save(make_tokenizer(PIECES, True), True, folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.length, self.batch_size, self.clock = recipe.sequence_length, batch_size, Clock()
        self.model = build_model(recipe.architecture, recipe.objective, SIZE, IDS, recipe.seed)
        self.blocks = Blocks(packed, self.length)
        self.collator = transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
        self.compiled = compiled
        self.trainer = self.make_trainer(folder) if ACCELERATE else None
        if compiled and not ACCELERATE:
            self.model.compile(backend=BACKEND)
        name = "transformers' Trainer" if ACCELERATE else "the Trainer's loop"
        self.methods = f"{name} with torch_compile" if compiled else name

    def make_trainer(self, folder: Path) -> Any:
        trainer = transformers.Trainer(
            model=self.model,
            args=self.arguments(folder),
            train_dataset=self.blocks,
            data_collator=self.collator,
            callbacks=[self.clock],
        )
        trainer.remove_callback(transformers.PrinterCallback)
        return trainer

    def arguments(self, folder: Path) -> transformers.TrainingArguments:
        return transformers.TrainingArguments(
            output_dir=str(folder),
            per_device_train_batch_size=self.batch_size,
            max_steps=1_000_000,
            learning_rate=1e-4,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            remove_unused_columns=False,
            use_cpu=not ON_GPU,
            bf16=ON_GPU,
            dataloader_num_workers=4 if ON_GPU else 0,
            dataloader_pin_memory=ON_GPU,
            torch_compile=self.compiled,
            torch_compile_backend=BACKEND if self.compiled else None,
        )

    def run(self, seconds: float) -> Speed:
        steps, took = self.steps(seconds)
        tokens = steps * self.batch_size * self.length
        needed = operations(shape_of_network(self.model), tokens, tokens * self.length, 0.15 * tokens)
        return Speed(tokens, needed, took)

    def steps(self, seconds: float) -> tuple[int, float]:
        """Return the number of steps done in at least so many seconds, and the seconds."""
        if self.trainer is None:
            return trainers_loop.train_for(
                seconds, self.model, self.blocks, self.collator, self.batch_size, DEVICE
            )
        self.clock.wanted = seconds
        self.trainer.train()
        return self.clock.steps, self.clock.seconds


Made = TypeVar("Made", bound=Way)


def fitting(make: Callable[[int], Made], sequences: int) -> tuple[Made, int]:
    """Return a program that has done its first steps, and its number of sequences at once.

    That number starts at `sequences` and is halved until the memory suffices.
    """
    while (made := attempt(make, sequences)) is None:
        gc.collect()
        torch.cuda.empty_cache()
        if sequences == 1:
            raise RuntimeError("not even one sequence at once fits into the GPU's memory")
        sequences //= 2
    return made, sequences


def attempt(make: Callable[[int], Made], sequences: int) -> Made | None:
    """Return the program after its first steps; None if the GPU's memory does not suffice."""
    try:
        made = make(sequences)
        for _ in range(WARMING_STEPS if isinstance(made, Ours) else 1):  # The Trainer's runs have their own.
            made.run(0.0)
    except torch.cuda.OutOfMemoryError:
        return None
    return made
