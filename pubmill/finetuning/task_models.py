"""Task models: trained models as Hugging Face folders, which predict again.

If transformers has a class with the same head for the encoder, that class loads the folder whole. Otherwise
`AutoModel` loads the encoder. In both cases `head.safetensors` holds the head, `pubmill.json` the other data
needed to predict, `training.json` the training report, and `README.md` the model card. The folder contains no
text of the dataset.
"""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample
from pubmill.finetuning import encoders
from pubmill.finetuning.finetuning_job import read_split
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import Batch, Instance, collate
from pubmill.finetuning.predicting import Predictor, make_reader
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.task_model_cards import task_model_card
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.tasks.task import Task
from pubmill.metrics.collapse import failure_of
from pubmill.recipes import FinetuningRecipe, build
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.storage.checksums import REPORT, write_folder_sums
from pubmill.storage.encoder_checks import reported
from pubmill.storage.files import read_json, sealed, write_json, writing_folder
from pubmill.storage.model_folder_checks import check_folder_in_place
from pubmill.storage.privacy import label_of_process
from pubmill.storage.training_reports import TrainingReport

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FORMAT = 1
"""Version of `pubmill.json`; increased if older programs would misread it."""
FACTS, HEAD = "pubmill.json", "head.safetensors"
HEAD_SETTINGS = ("task", "head", "head_sizes", "pooling", "crf")
"""Fields that must match before another recipe may use a head."""
STANDARD = {"tokens": "AutoModelForTokenClassification", "span": "AutoModelForQuestionAnswering"}
"""Kind of task -> transformers' class with a linear layer on each token."""
TOLERANCE = 1e-4
"""Largest difference between scores of transformers' class and ours, due to other shapes of products."""


class TaskModelFacts(StrictRecipe):
    """Content of `pubmill.json`. `argument_types`: pairs of types that a relation may have in new text."""

    format: int
    recipe: FinetuningRecipe
    labels: list[str]
    argument_types: list[tuple[str, str]]


def keep(folder: Path, task: Task[Any], model: TaskModel, report: TrainingReport, dataset: Path) -> None:
    """Write the task model `folder` of a run on `dataset`; if the run failed, only its report. Raises a
    `PubmillError` and leaves nothing if the written model does not load or gives other encodings."""
    if failure_of(report):
        keep_report(folder, report)
        return
    model.eval()
    labelled = {**report, **label_of_process()}
    with writing_folder(folder) as temporary:
        write_json(temporary / REPORT, sealed(labelled))
        standard = _transformers_model(task, model)
        (standard or model.encoder).save_pretrained(temporary)
        head = {name: value.detach().cpu().contiguous() for name, value in model.head.state_dict().items()}
        save_file(head, temporary / HEAD)
        tokenizer = copy.deepcopy(task.reader.tokenizer)
        tokenizer.model_max_length = task.reader.max_length  # where transformers truncates
        tokenizer.save_pretrained(temporary)
        facts = {"format": FORMAT, "recipe": report["recipe"], "labels": task.labels}
        write_json(temporary / FACTS, {**facts, "argument_types": _argument_types(task, dataset)})
        card = task_model_card(folder.name, labelled, dataset, type(standard).__name__ if standard else None)
        (temporary / "README.md").write_text(card, encoding="utf-8")
        _check_saved_model(temporary, model, task.reader)
        write_folder_sums(temporary)


def keep_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Write the folder of a failed run, which has a report but no model."""
    with writing_folder(folder) as temporary:
        write_json(temporary / REPORT, sealed({**report, **label_of_process()}))
        write_folder_sums(temporary)


def load_task_model(folder: Path, device: torch.device) -> Predictor:
    """Return the model of a task model folder, ready to predict; a `PubmillError` names the folder."""
    try:
        facts = read_facts(folder)
        recipe = facts.recipe
        encoders.check_is_model_folder(folder)
        check_folder_in_place(folder)
        with reported(f"{folder} can't be loaded as a task model; get or keep it again"):
            encoder = encoders.load_encoder(folder, recipe.dropout, device)
            tokenizer = encoders.load_encoder_tokenizer(folder, words=recipe.spaced_words)
            task = TASKS[recipe.task](recipe, make_reader(recipe, tokenizer, encoder), facts.labels)
            model = TaskModel(encoder, task.head(encoders.encoding_size(encoder)))
            _load_head(model.head, folder)
            return Predictor(recipe, task, model.to(device))
    except PubmillError as error:
        raise PubmillError(str(error) if str(folder) in str(error) else f"{folder}: {error}") from None


def continue_head(head: torch.nn.Module, task: Task[Any], folder: Path) -> bool | None:
    """Load the weights of the task model in `folder` into a new head if both heads are alike; return whether
    they are, and None if the folder is no task model.

    Heads are alike if settings and labels are equal. Labels of a span task may differ: they are kinds of
    questions, which have no scores; starts and ends are the same with and without unanswerable questions.
    """
    if not (folder / FACTS).is_file():
        return None
    facts = read_facts(folder)
    settings = all(getattr(facts.recipe, name) == getattr(task.recipe, name) for name in HEAD_SETTINGS)
    if not settings or (facts.labels != task.labels and task.recipe.task != "span"):
        return False
    _load_head(head, folder)
    return True


def _load_head(head: torch.nn.Module, folder: Path) -> None:
    try:
        head.load_state_dict(load_file(folder / HEAD))
    except (OSError, SafetensorError, RuntimeError):
        raise PubmillError(
            f"{folder / HEAD} is missing, damaged, or not of the head that {FACTS} describes; "
            "keep the model again"
        ) from None


def read_facts(folder: Path) -> TaskModelFacts:
    """Read `pubmill.json` and check its form."""
    path = folder / FACTS
    if not path.is_file():
        fault = f"is no task model: it has no {FACTS}" if folder.is_dir() else "is not a folder"
        raise PubmillError(
            f"{folder} {fault}. Task models are written by a study with `keep_models: true`, and by "
            "scripts/finetune.py --keep"
        )
    facts: Any = read_json(path)
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise PubmillError(f"{path}: its format is not {FORMAT}, the one that this version of pubmill reads")
    return build(TaskModelFacts, facts, f"{path} (keep the model again)")


def base_model(folder: Path) -> str:
    """Return the name of a folder's pretrained model; for a task model, from its report."""
    report = _previous_report(folder)
    return str(report["model"]) if report else folder.name


def start_failed(folder: Path) -> str | None:
    """Return how the run of a folder's model failed; None if it did not, or if the model is pretrained."""
    report = _previous_report(folder)
    return failure_of(report) if report else None


def _previous_report(folder: Path) -> TrainingReport | None:
    """Return the report of the run that made a folder's model; None for a pretrained model."""
    path = folder / REPORT
    if not path.is_file():
        return None
    report: Any = read_json(path)
    lacks = [key for key in ("model", "failed") if not isinstance(report, dict) or key not in report]
    if lacks or not isinstance(report.get("data_sha256", {}), dict):
        what = f"has no {', '.join(lacks)}" if lacks else "must have an object as data_sha256"
        raise PubmillError(f"{path} {what}, so it is no report of a fine-tuning; keep the model again")
    checked: TrainingReport = report  # only these keys were checked
    return checked


def _transformers_model(task: Task[Any], model: TaskModel) -> "PreTrainedModel | None":
    """Return transformers' own class with these weights, if it has one that gives the same scores."""
    import transformers

    state = {value.ndim: value for value in model.head.state_dict().values()}
    kind = STANDARD.get(task.recipe.task)
    if kind is None or len(model.head.state_dict()) != 2 or state.keys() != {1, 2}:
        return None
    config = copy.deepcopy(model.encoder.config)
    config.num_labels = state[1].numel()
    if task.recipe.task == "tokens":
        config.id2label = dict(enumerate(task.labels))
        config.label2id = {label: number for number, label in enumerate(task.labels)}
    try:
        whole: PreTrainedModel = getattr(transformers, kind).from_config(config, trust_remote_code=False)
    except ValueError:
        return None  # transformers has no such class for this encoder
    layers = [child for child in whole.children() if isinstance(child, torch.nn.Linear)]
    base, weights = whole.base_model, model.encoder.state_dict()
    alike = len(layers) == 1 and layers[0].weight.shape == state[2].shape
    if not alike or base.state_dict().keys() != weights.keys():
        return None
    base.load_state_dict(weights)
    layers[0].load_state_dict({"weight": state[2], "bias": state[1]})
    torch.nn.Module.to(whole, model.encoder.device).train(False)
    return whole if _same_scores(whole, task.reader, model) else None


@torch.inference_mode()
def _same_scores(whole: "PreTrainedModel", reader: Reader, model: TaskModel) -> bool:
    """Return whether transformers' class gives our scores, in float32."""
    batch = _probe_batch(reader, model.encoder)
    segments = {} if batch.segments is None else {"token_type_ids": batch.segments}
    given = whole(input_ids=batch.ids, attention_mask=batch.mask, **segments)
    scores = given.logits if "logits" in given else torch.stack([given.start_logits, given.end_logits], -1)
    expected = model(batch)
    found = batch.read(scores)
    return found.shape == expected.shape and torch.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


def _probe_batch(reader: Reader, encoder: "PreTrainedModel") -> Batch:
    """Return two inputs of different lengths, with ids from the whole vocabulary."""
    room, size = min(reader.room(pair=False), 30), len(reader.tokenizer)
    instances = []
    for length in (room, room // 2):
        ids, segments = reader.framed([place * size // length for place in range(length)])
        instances.append(Instance(example=0, ids=ids, segments=segments, places=list(range(len(ids)))))
    return collate(instances, reader.pad, encoder.device)


def _argument_types(task: Task[Any], dataset: Path) -> list[tuple[str, str]]:
    """Return the types of relation arguments in train, which define the candidate pairs in new text."""
    if task.kind is not SequenceExample:
        return []
    examples: Sequence[SequenceExample] = read_split(dataset, "train", SequenceExample)
    pairs = [[entity.type for entity in example.entities] for example in examples]
    return sorted({(pair[0], pair[1]) for pair in pairs if len(pair) == 2})


@torch.inference_mode()
def _check_saved_model(folder: Path, model: TaskModel, reader: Reader) -> None:
    """Load what was written and check that it is the same model."""
    again = load_task_model(folder, model.encoder.device)
    again.model.eval()
    batch = _probe_batch(reader, model.encoder)
    both = (model.encoder, again.model.encoder)
    one, other = (encoders.forward(encoder, batch.ids, batch.mask, batch.segments) for encoder in both)
    tokens = again.task.reader.tokenizer.get_vocab() == reader.tokenizer.get_vocab()
    if not tokens or one.shape != other.shape or not torch.equal(one, other):
        raise PubmillError(
            f"{folder}: once written and read again, {type(model.encoder).__name__} or its tokenizer is "
            "another; this encoder can't be kept with this recipe"
        )
