"""Files of scored predictions: pubmill's own form, and Every Eval Ever's.

An evaluation in the schema of Every Eval Ever 0.3 (github.com/evaleval/every_eval_ever) is a JSON file with
all metrics of a submission. Beside it, `..._samples.jsonl` has a record for each example, linked to the
dataset's main metric. Only public datasets have these: they hold the input.
"""

import hashlib
import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pubmill
from pubmill.metrics import METRICS, gold_of, is_right, plain_prediction
from pubmill.metrics.records import PREDICTION_FORMS
from pubmill.predictions.inputs_without_gold import row_of
from pubmill.predictions.scores import ScoredSubmission
from pubmill.recipes.submissions import System
from pubmill.storage.files import write_json, write_jsonl_gz, writing
from pubmill.storage.privacy import PUBLIC, write_label_beside
from pubmill.storage.result_paths import PREDICTIONS

SCHEMA = "0.3.0"
UNKNOWN = "unknown"


def write_scores(folder: Path, scored: ScoredSubmission, seed: int) -> None:
    """Write predictions, scores and, unless the data are made up, records of Every Eval Ever."""
    name = Path(scored.recipe.dataset, f"seed-{seed}")
    write_label_beside(folder / f"{name}.scores.json")
    write_jsonl_gz(folder / f"{name}{PREDICTIONS}", scored.submission.lines)
    write_json(folder / f"{name}.scores.json", scored.summary())
    if not scored.made_up:
        write_evaluation(folder / "every-eval-ever", scored, int(time.time()), pubmill.__version__)


def write_evaluation(folder: Path, scored: ScoredSubmission, retrieved: int, version: str) -> list[Path]:
    """Write the evaluation, and for a public dataset its instance records; return the files. `retrieved`: the
    time of the scoring in seconds since 1970; `version`: that of pubmill."""
    metric = scored.main_first()[0]
    system = scored.recipe.system or System(name=UNKNOWN, version=UNKNOWN, url=UNKNOWN)
    model = _model_id(system)
    evaluation_id = f"{scored.recipe.dataset}/{model}/{retrieved}"
    content = hashlib.sha256(f"{evaluation_id} {scored.submission.lines}".encode()).digest()
    name = uuid.UUID(bytes=content[:16], version=4)  # the form of version 4, but a digest of the content
    place = f"data/{_slug(scored.recipe.dataset)}/{model}/{name}"
    written, detailed = [], {}
    if scored.recipe.access == PUBLIC:
        records = _samples(scored, metric, model, evaluation_id)
        samples = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
        written.append(_write(folder / f"{place}_samples.jsonl", samples))
        detailed["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{place}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.encode()).hexdigest(),
            "total_rows": len(scored.examples),
        }
    library = {"eval_library": {"name": "pubmill", "version": version}}
    evaluation = _evaluation(scored, system, evaluation_id, retrieved) | library | detailed
    written.append(_write(folder / f"{place}.json", json.dumps(evaluation, indent=1) + "\n"))
    return written


def _write(path: Path, text: str) -> Path:
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", text).strip("-.") or UNKNOWN


def _model_id(system: System) -> str:
    """Return the system's name in the form DEVELOPER/MODEL."""
    developer, slash, name = system.name.partition("/")
    return f"{_slug(developer)}/{_slug(name)}" if slash else f"{UNKNOWN}/{_slug(developer)}"


def _evaluation(
    scored: ScoredSubmission, system: System, evaluation_id: str, retrieved: int
) -> dict[str, object]:
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id,
        "retrieved_timestamp": str(retrieved),
        "source_metadata": {
            "source_name": "pubmill",
            "source_type": "evaluation_run",
            "source_organization_name": "pubmill",
            "evaluator_relationship": "third_party",
        },
        "model_info": {
            "name": system.name,
            "id": _model_id(system),
            "additional_details": {
                "deployment_type": "self_deployed" if system.local else UNKNOWN,
                "model_availability": UNKNOWN,
                "version": system.version,
                "fine_tuned": "not by pubmill",
                **({"url": system.url} if system.url else {}),
            },
        },
        "evaluation_results": [_result(scored, name, system) for name in scored.main_first()],
    }


def _result(scored: ScoredSubmission, name: str, system: System) -> dict[str, object]:
    recipe, described = scored.recipe, METRICS.get(name)
    low = -1.0 if name == "pearson" else 0.0  # the others are fractions
    reading = scored.submission.reading
    details = {
        **{name: str(number) for name, number in scored.counts.items()},
        "unaligned_spans": str(len(reading.lost)),
        "unmapped_answers": str(len(reading.unmapped)),
    }
    arguments = {"generation_args": {"prompt_template": system.prompt}}
    return {
        "evaluation_result_id": f"{recipe.dataset}.{name}",
        "evaluation_name": recipe.dataset,
        "source_data": {
            "dataset_name": recipe.dataset,
            "source_type": "other",
            "additional_details": {"split": recipe.split, "examples": str(len(scored.examples))},
        },
        "metric_config": {
            "metric_id": name,
            "metric_name": described.label if described else name,
            "evaluation_description": described.definition if described else name,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": low,
            "max_score": 1.0,
        },
        "score_details": {"score": scored.metrics[name], "details": details},
        **({"generation_config": arguments} if system.prompt else {}),
    }


def _samples(
    scored: ScoredSubmission, metric: str, model: str, evaluation_id: str
) -> Iterator[dict[str, object]]:
    """Yield a record per example; its score is 1 if the prediction is right in every part, else 0."""
    lines = zip(scored.examples, scored.submission.lines, scored.predicted, strict=True)
    for example, line, read in lines:
        inputs = {name: value for name, value in row_of(example, scored.recipe).items() if name != "dataset"}
        raw = json.dumps(inputs, ensure_ascii=False, sort_keys=True)
        gold = gold_of(example)
        reference = gold if hasattr(example, "answers") else [_text(gold)]
        asked, predicted = {"raw": raw, "reference": reference}, _prediction(line)
        content, right = json.dumps(asked, separators=(",", ":")), is_right(example, plain_prediction(read))
        yield {
            "schema_version": SCHEMA,
            "evaluation_id": evaluation_id,
            "model_id": model,
            "evaluation_name": scored.recipe.dataset,
            "evaluation_result_id": f"{scored.recipe.dataset}.{metric}",
            "sample_id": example.id,
            "sample_hash": hashlib.sha256(content.encode()).hexdigest(),
            "interaction_type": "single_turn",
            "input": asked,
            "output": {"raw": [_text(predicted)]},
            "messages": None,
            "answer_attribution": [
                {
                    "turn_idx": 0,
                    "source": "output.raw",
                    "extracted_value": _text(predicted),
                    "extraction_method": f"pubmill {scored.submission.form}",
                    "is_terminal": True,
                }
            ],
            "evaluation": {"score": float(right), "is_correct": right},
        }


def _prediction(line: Mapping[str, Any]) -> Any:
    """Return the prediction in a line of pubmill's own form; answers as texts, best first."""
    [key] = line.keys() & {form.key for form in PREDICTION_FORMS.values()}
    return [answer["text"] for answer in line[key]] if key == "answers" else line[key]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
