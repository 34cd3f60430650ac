"""A board as a study: its submissions are models with supplied predictions, its datasets rows of a table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from pubmill.extras.board.board_files import SUBMISSIONS, BoardSpec, Entry, write_text
from pubmill.messages.installation import link_files
from pubmill.new_specs.new_table import HEADING
from pubmill.recipes.reading import as_values
from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.storage.result_paths import RELATIVE, paths_of_scale

TABLE = "board/table01"
WORK = ".board"
"""The folder below a board in which its records are kept."""
COLUMN = "submission-"
"""Prefix of the names of submissions' models, which keeps them apart from pubmill's models."""


def board_graph(
    folder: Path, spec: BoardSpec, entries: Sequence[Entry], specs: Path, known: Specs, results: Path
) -> tuple[Graph, Path]:
    """Write the specs of a board's submissions and table, and return its graph and the folder of these specs.
    `specs`, `known`: the folder of those of pubmill, and what is in it; `results`: the folder of a scale with
    the board's datasets, which are linked."""
    work, scale = folder.absolute() / WORK, results.name
    table, models = Path("tables", f"{TABLE}.yaml"), Path("models")
    own = {table: _yaml(_table(spec, entries, known))}
    own |= {models / f"{COLUMN}{entry.name}.yaml": _yaml(_model(entry)) for entry in entries}
    own[table.with_suffix(".published.csv")] = f"{HEADING}\n"
    for name, text in own.items():
        path = work / "own" / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
    files = (path for path in specs.rglob("*") if path.is_file())
    wanted = {f"specs/{path.relative_to(specs)}": path.absolute() for path in files}
    wanted |= {f"specs/{name}": work / "own" / name for name in own}
    paths = paths_of_scale(scale, "results")
    wanted |= {paths.dataset(one): (results / RELATIVE.dataset(one)).absolute() for one in spec.datasets}
    link_files(work, wanted, ["specs"])
    study = Study(
        study="board",
        title=spec.title,
        scale=scale,
        tables=(TABLE,),
        results=str(work / "results"),
        local_files={f"{COLUMN}{one.name}": str(folder / SUBMISSIONS / one.name) for one in entries},
    )
    return Graph(study, load(work / "specs", scale)), work / "specs"


def _yaml(values: Mapping[str, object]) -> str:
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


def _model(entry: Entry) -> dict[str, object]:
    system = {name: value for name, value in as_values(entry.card.system).items() if value is not None}
    return {
        "name": f"{COLUMN}{entry.name}",
        "label": entry.card.label,
        "citation": "the submission's card",
        "lowercase": False,
        "weights": {
            "kind": "predictions",
            "local": f"{COLUMN}{entry.name}",
            "system": system,
            "mapping": entry.card.mapping,
        },
    }


def _table(spec: BoardSpec, entries: Sequence[Entry], known: Specs) -> dict[str, object]:
    mean = {"name": "mean", "label": "Mean", "groups": {"datasets": list(spec.datasets)}}
    return {
        "name": "table01",
        "kind": "results",
        "paper": "board",
        "title": spec.title,
        "caption": "Scores on test of the board's submissions; nothing is trained here.",
        "citation": "the board's submissions",
        "protocol": "blurb",
        "setting": "standard",
        "columns": [{"model": f"{COLUMN}{one.name}", "label": one.card.label} for one in entries],
        "rows": [
            {"dataset": one, "label": known.datasets[one].label or one, "group": known.datasets[one].task}
            for one in spec.datasets
        ],
        "composites": [mean] if len(spec.datasets) > 1 else [],
    }
