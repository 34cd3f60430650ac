"""Speed of fine-tuning: transformers' own way against pubmill, interleaved in one run.

    python benchmarks/finetuning.py [--quick] [--mirror FOLDER]
    python benchmarks/finetuning.py --three-epochs [--mirror FOLDER]    alrowili2021 Table 3; needs a GPU

Relations as in ChemProt (dummies, one label a sentence) and entities as in NCBI-disease, in batches of 32,
by three programs that train the same random model:
- padded: transformers' Trainer as run_classification.py and run_ner.py use it with --pad_to_max_length, to
  256 and 128 tokens;
- dynamic: the same with each batch padded to its longest, as without it;
- ours: pubmill.finetuning.
On a processor the model is a BERT of 4 layers, 256 wide; the Trainer computes in float32, its default, and
ours as `auto` says; times are processor seconds of one thread, so that neighbours on the machine disturb
little. On a GPU it is a BERT-base, all compute in bfloat16, times are by the wall clock, and the peak of
memory is shown.

With --mirror (HOST/PATH of each source) the sentences are the real ones, cut by a WordPiece vocabulary of
8,000 that is learnt from them. Without, they are made up, as long as the real ones are then (`LENGTHS`).
Tokens are real ones, without padding. The Trainer needs accelerate: pip install --no-deps accelerate.
The last lines are ratios of medians: examples per second by ours over those by the Trainer.
"""

import argparse
import importlib.util
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# In place of this folder, whose datasets.py transformers would take for the library of that name.
sys.path[0] = str(Path(__file__).resolve().parents[1])

import torch
import transformers
from tokenizers.implementations import BertWordPieceTokenizer
from transformers import BertConfig, BertModel, BertTokenizerFast, TrainingArguments

from pubmill import entities
from pubmill.examples import Entity, SequenceExample, TokensExample, read_examples
from pubmill.finetuning.encoders import load_encoder, load_tokenizer
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.splits import encode_split
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.training import Trainer
from pubmill.recipes import Dummies, FinetuningRecipe

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
BATCH, WORDS = 32, 8000
SMALL = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
DUMMIES = Dummies(
    types={"CHEMICAL": "@CHEMICAL$", "GENE-Y": "@GENE$", "GENE-N": "@GENE$"}, overlap="@CHEM-GENE$"
)
CLASSES = {
    "chemprot": {"CPR:3": 0, "CPR:4": 1, "CPR:5": 2, "CPR:6": 3, "CPR:9": 4, "false": 5},
    "ncbi-disease": {"O": 0, "B": 1, "I": 2},
}
NUMBER = {"chemprot": 18035, "ncbi-disease": 5424}
LENGTHS = {  # means 52 and 26.5
    "chemprot": [8, 22, 26, 30, 32, 35, 37, 40, 43, 45, 47, 50, 52, 56, 58, 62, 67, 75, 84, 100, 231],
    "ncbi-disease": [2, 9, 12, 14, 16, 17, 18, 20, 21, 23, 24, 26, 28, 29, 31, 34, 36, 39, 44, 51, 134],
}
"""Subwords of the sentences of train, special ones left out, at the 0th, 5th, ... 100th percentile."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """Training examples, the texts (or words) that the Trainer's way reads, and our recipe; the Trainer pads
    to the recipe's `max_length`."""

    name: str
    examples: Sequence[Any]
    texts: Sequence[Any]
    recipe: FinetuningRecipe

    def first(self, number: int) -> "Work":
        return replace(self, examples=self.examples[:number], texts=self.texts[:number])


def relations(mirror: Path | None) -> Work:
    examples = real("chemprot@blurb", mirror) if mirror else made_up("chemprot", made_up_relation)
    texts = [
        entities.dummies(one.text, one.entities, DUMMIES.types, DUMMIES.overlap).text for one in examples
    ]
    recipe = FinetuningRecipe(
        task="sequence",
        metric="micro_f1",
        negative="false",
        dummies=DUMMIES,
        max_length=256,
        learning_rate=2e-5,
        batch_size=BATCH,
        epochs=1,
        keep="last",
    )
    return Work(name="chemprot", examples=examples, texts=texts, recipe=recipe)


def mentions(mirror: Path | None) -> Work:
    examples = real("ncbi-disease", mirror) if mirror else made_up("ncbi-disease", made_up_sentence)
    texts = [example.words for example in examples]
    recipe = FinetuningRecipe(
        task="tokens",
        metric="entity_f1",
        max_length=128,
        learning_rate=2e-5,
        batch_size=BATCH,
        epochs=1,
        keep="last",
    )
    return Work(name="ncbi-disease", examples=examples, texts=texts, recipe=recipe)


def real(dataset: str, mirror: Path) -> list[Any]:
    """The training examples of a dataset whose files are in a mirror, in random order."""
    from pubmill.convert.dataset import convert
    from tests.dataset_specs import conversion_of, inputs_of, spec_of

    with tempfile.TemporaryDirectory() as folder:
        convert(conversion_of(dataset), inputs_of(dataset, mirror), Path(folder))
        kind = TASKS[spec_of(dataset).kind].kind
        examples = list(read_examples(Path(folder) / "train.jsonl.gz", kind))
    random.Random(1).shuffle(examples)
    return examples


def made_up(name: str, make: Callable[[random.Random, str, int], Any]) -> list[Any]:
    """As many examples as the real dataset has, as long as those are; always the same."""
    draw, steps = random.Random(1), LENGTHS[name]
    examples = []
    for number in range(NUMBER[name]):
        place = draw.random() * (len(steps) - 1)
        low = int(place)
        subwords = steps[low] + (place - low) * (steps[low + 1] - steps[low])
        examples.append(make(draw, str(number), round(subwords)))
    return examples


def made_up_relation(draw: random.Random, name: str, subwords: int) -> SequenceExample:
    """Its first two words are the mentions, of which each dummy is three subwords."""
    words = [f"w{draw.randrange(WORDS)}" for _ in range(max(2, subwords - 4))]
    end = len(words[0])
    pair = [
        Entity(start=0, end=end, type="CHEMICAL"),
        Entity(start=end + 1, end=end + 1 + len(words[1]), type="GENE-Y"),
    ]
    label = draw.choice(list(CLASSES["chemprot"]))
    return SequenceExample(id=name, document=None, text=" ".join(words), label=label, entities=pair)


def made_up_sentence(draw: random.Random, name: str, subwords: int) -> TokensExample:
    words = [f"w{draw.randrange(WORDS)}" for _ in range(subwords)]
    labels = draw.choices(["O", "B"], [0.95, 0.05], k=subwords)
    return TokensExample(id=name, document=None, words=words, labels=labels)


def write_model(folder: Path, texts: Sequence[Any], learn: bool) -> Path:
    """A random BERT, with a vocabulary that is learnt from the texts or has all made-up words."""
    folder.mkdir()
    if learn:
        learner = BertWordPieceTokenizer(lowercase=True)
        sentences = (text if isinstance(text, str) else " ".join(text) for text in texts)
        learner.train_from_iterator(sentences, vocab_size=WORDS, show_progress=False)
        learner.save_model(str(folder))
    else:
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "@", "$", "chemical", "gene"]
        (folder / "vocab.txt").write_text("\n".join([*special, *(f"w{n}" for n in range(WORDS))]) + "\n")
    tokenizer = BertTokenizerFast.from_pretrained(folder, do_lower_case=True)
    tokenizer.save_pretrained(folder)
    BertModel(BertConfig(vocab_size=len(tokenizer), **({} if ON_GPU else SMALL))).save_pretrained(folder)
    return folder


def now() -> float:
    if ON_GPU:
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


class Clock(transformers.TrainerCallback):  # type: ignore[misc]
    """Seconds of a training, without what the Trainer does before and after it."""

    begun = seconds = 0.0

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self.begun = now()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self.seconds = now() - self.begun


def of_transformers(work: Work, model: Path, padded: bool) -> Callable[[], float]:
    """An epoch as the example programs do it; a call gives its seconds."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    sequence = work.name == "chemprot"
    how = "padded" if padded else "dynamic"
    features = timed(f"{work.name}, {how}", work, lambda: features_of(work, tokenizer, padded))
    kind = (
        transformers.AutoModelForSequenceClassification
        if sequence
        else transformers.AutoModelForTokenClassification
    )
    dynamic = (
        transformers.DataCollatorWithPadding(tokenizer)
        if sequence
        else transformers.DataCollatorForTokenClassification(tokenizer)
    )
    clock = Clock()
    arguments = TrainingArguments(
        output_dir=str(model),
        per_device_train_batch_size=BATCH,
        num_train_epochs=1,
        learning_rate=work.recipe.learning_rate,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=not ON_GPU,
        bf16=ON_GPU,
        dataloader_pin_memory=ON_GPU,
    )
    trainer = transformers.Trainer(
        model=kind.from_pretrained(model, num_labels=len(CLASSES[work.name])),
        args=arguments,
        train_dataset=features,
        data_collator=transformers.default_data_collator if padded else dynamic,
        callbacks=[clock],
    )
    trainer.remove_callback(transformers.PrinterCallback)

    def epoch() -> float:
        trainer.train()
        return clock.seconds

    return epoch


def features_of(work: Work, tokenizer: Any, padded: bool) -> list[dict[str, Any]]:
    """What the example programs make of texts and labels: a word's first subword carries its label."""
    encoded = tokenizer(
        work.texts,
        padding="max_length" if padded else False,
        max_length=work.recipe.max_length,
        truncation=True,
        is_split_into_words=work.name != "chemprot",
    )
    classes = CLASSES[work.name]
    features = []
    for number, example in enumerate(work.examples):
        feature = {key: encoded[key][number] for key in encoded}
        if work.name == "chemprot":
            feature["label"] = classes[example.label]
        else:
            words = encoded.word_ids(number)
            feature["labels"] = [
                -100 if word is None or word == before else classes[example.labels[word]]
                for before, word in zip([None, *words], words, strict=False)
            ]
        features.append(feature)
    return features


def ours(work: Work, model: Path) -> Callable[[], float]:
    """An epoch of pubmill's training; a call gives its seconds."""
    reader = Reader(load_tokenizer(model), work.recipe.max_length, "separate")
    kind = TASKS[work.recipe.task]
    task = kind(work.recipe, reader, kind.labels_of(work.recipe, work.examples))
    split = timed(f"{work.name}, ours", work, lambda: encode_split(task, work.examples, learn=True))
    encoder = load_encoder(model, work.recipe.dropout, DEVICE)
    task.prepare(work.examples, split.encoded.instances)
    made = TaskModel(encoder, task.head(int(encoder.config.hidden_size))).to(DEVICE)
    trainer = Trainer(work.recipe, task, made, seed=1)

    def epoch() -> float:
        begun = now()
        trainer.train(split, None)
        return now() - begun

    return epoch


def timed(name: str, work: Work, encode: Callable[[], Any]) -> Any:
    """What `encode` gives; its speed is told."""
    begun = time.perf_counter()
    encoded = encode()
    took = time.perf_counter() - begun
    print(f"{name}: texts to ids, {len(work.examples) / took:,.0f} examples/s", flush=True)
    return encoded


def compare(work: Work, model: Path, rounds: int) -> list[str]:
    """Speeds of the three on one dataset, told; the lines of their ratios."""
    runs = {
        "padded": of_transformers(work, model, padded=True),
        "dynamic": of_transformers(work, model, padded=False),
        "ours": ours(work, model),
    }
    reader = Reader(load_tokenizer(model), work.recipe.max_length, "separate")
    tokens = sum(min(len(one.ids) + 2, reader.max_length) for one in reader.subwords(joined(work.texts)))
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    peaks = dict.fromkeys(runs, 0.0)
    for _ in range(rounds):
        for name, epoch in runs.items():
            if ON_GPU:
                torch.cuda.reset_peak_memory_stats()
            seconds[name].append(epoch())
            peaks[name] = torch.cuda.max_memory_allocated() / 2**20 if ON_GPU else 0.0
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, took in medians.items():
        memory = f", peak {peaks[name]:,.0f} MiB" if ON_GPU else ""
        speed = f"{len(work.examples) / took:,.1f} examples/s, {tokens / took:,.0f} tokens/s"
        print(f"{work.name}, {name}: {speed}{memory}", flush=True)
    fixed = f"padded to {work.recipe.max_length}"
    return [
        f"{work.name}, ours over {fixed}: {medians['padded'] / medians['ours']:.2f}",
        f"{work.name}, ours over dynamic: {medians['dynamic'] / medians['ours']:.2f}",
    ]


def joined(texts: Sequence[Any]) -> list[str]:
    return [text if isinstance(text, str) else " ".join(text) for text in texts]


def three_epochs(mirror: Path | None, folder: Path) -> None:
    """alrowili2021 Table 3: all of ChemProt's train, 3 epochs, batches of 32, 128 tokens (3:01 minutes on an
    RTX 3090 with ELECTRA-base), from reading the texts to the last step."""
    work = relations(mirror)
    model = write_model(folder / "model", work.texts, learn=mirror is not None)
    begun = time.perf_counter()
    epoch = ours(replace(work, recipe=replace(work.recipe, max_length=128, epochs=3)), model)
    epoch()
    minutes, seconds = divmod(round(time.perf_counter() - begun), 60)
    print(f"{len(work.examples)} examples on {torch.cuda.get_device_name()}")
    print(f"three epochs of ChemProt, minutes: {minutes}:{seconds:02d}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    parser.add_argument("--mirror", type=Path, help="folder with HOST/PATH of the datasets' sources")
    parser.add_argument("--three-epochs", action="store_true", help="time of alrowili2021 Table 3, on a GPU")
    arguments = parser.parse_args()
    if arguments.three_epochs and not ON_GPU:
        parser.error("--three-epochs needs a GPU that torch finds; on a processor it would take hours")
    if not arguments.three_epochs and importlib.util.find_spec("accelerate") is None:
        parser.error("the Trainer needs accelerate: python -m pip install --no-deps accelerate")
    torch.set_num_threads(1)  # of several, those that wait for each other would use processor time too
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as name:
        if arguments.three_epochs:
            return three_epochs(arguments.mirror, Path(name))
        number = (96 if arguments.quick else 512) * (8 if ON_GPU else 1)
        ratios = []
        for work in (relations(arguments.mirror), mentions(arguments.mirror)):
            model = write_model(Path(name) / work.name, work.texts, learn=arguments.mirror is not None)
            ratios += compare(work.first(number), model, 1 if arguments.quick else 5)
    print("\n".join(ratios))


if __name__ == "__main__":
    main()
