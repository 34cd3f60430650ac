"""Tasks of lm-evaluation-harness: prompts and right answers as Parquet, the task's YAML, and its scoring."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pubmill.examples.arrow_tables import to_table
from pubmill.examples.kinds import KINDS, Example
from pubmill.examples.prompts import Wording, prompt_of, right_answer

SCORING = "pubmill_scoring"
"""Name of the copy of `lm_eval_scoring.py` beside the task."""
SPLITS = {"train": "training", "dev": "validation", "test": "test"}
"""Split -> its name in keys of tasks."""
METRICS: dict[str, tuple[str, dict[str, str]]] = {
    "tokens": ("mentions", {"entity_f1": "micro_f1"}),
    "sequence": ("choice", {"accuracy": "mean", "micro_f1": "micro_f1"}),
    "multilabel": ("label_set", {"micro_f1": "micro_f1"}),
    "regression": ("number", {"pearson": "pearson", "answered": "mean"}),
    "span": ("answer", {"exact_match": "mean", "f1": "mean"}),
    "relations": ("relations", {"relation_f1": "micro_f1"}),
    "mentions": ("nested_mentions", {"entity_f1": "micro_f1"}),
}
"""Kind of examples -> function that reads an answer, and its metrics with their aggregations."""
LONGEST = 256
"""Tokens of the longest generated answer."""


def task_name(dataset: str) -> str:
    """Return the name of a dataset's task: that of the dataset, without marks that the harness reads."""
    return "pubmill_" + re.sub(r"\W+", "_", dataset)


def task_table(
    examples: Sequence[Example], kind: str, wording: Wording, labels: Sequence[str], negative: str | None
) -> pa.Table:
    """Return examples with their prompts, right answers, and the labels that the scoring needs."""
    typed, count = bool(wording.words["types"]), len(examples)
    added: dict[str, tuple[list[Any], pa.DataType]] = {
        "prompt": ([prompt_of(one, wording) for one in examples], pa.string()),
        "target": ([right_answer(one, typed) for one in examples], pa.string()),
        "choices": ([list(labels)] * count, pa.list_(pa.string())),
        "negative": ([negative] * count, pa.string()),
    }
    table = to_table(examples, KINDS[kind])
    for name, (values, of) in added.items():
        table = table.append_column(name, pa.array(values, of))
    return table


def task_yaml(dataset: str, kind: str, splits: Sequence[str], version: int) -> str:
    """Return the task, for the splits that the dataset has."""
    reader, metrics = METRICS[kind]
    listed = [
        f"  - metric: {name}\n    aggregation: {'' if of == 'mean' else f'!function {SCORING}.'}{of}\n"
        "    higher_is_better: true"
        for name, of in metrics.items()
    ]
    names = [f"{SPLITS[split]}_split: {split}" for split in splits]
    shots = ["fewshot_split: train"] if "train" in splits else []
    return "\n".join(
        [
            f"task: {task_name(dataset)}",
            f"custom_dataset: !function {SCORING}.load",
            *names,
            *shots,
            "doc_to_text: prompt",
            *_answers(kind),
            f"process_results: !function {SCORING}.{reader}",
            "metric_list:",
            *listed,
            f"metadata: {{version: {version}}}",
            "",
        ]
    )


def _answers(kind: str) -> list[str]:
    if kind == "sequence":
        return ["output_type: multiple_choice", "doc_to_choice: choices", "doc_to_target: target"]
    settings = f'{{until: ["\\n\\n"], do_sample: false, max_gen_toks: {LONGEST}}}'
    return ["output_type: generate_until", "doc_to_target: target", f"generation_kwargs: {settings}"]


def task_files(dataset: str, kind: str, splits: Sequence[str], version: int) -> Mapping[str, str]:
    """Return the text files of a task by their names."""
    scoring = Path(__file__).with_name("lm_eval_scoring.py").read_text(encoding="utf-8")
    return {f"{task_name(dataset)}.yaml": task_yaml(dataset, kind, splits, version), f"{SCORING}.py": scoring}
