"""A report of all result tables at full scale, from made-up records, for tests and measurements.

python -m tests.full_report FOLDER     write FOLDER/reports/all.html and what it is made from
python -m tests.full_report            write docs/example-report.html: a few tables, labelled as an example,
                                       and the picture of its first one (with Chromium)
"""

import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from pubmill.recipes.finetuning import FinetuningRecipe
from pubmill.recipes.reading import build
from pubmill.recipes.report import ReportRecipe
from pubmill.report.rendering import to_json
from pubmill.report.study_report import Report, read_report, render
from pubmill.storage.result_paths import RELATIVE, Paths, RunKey, run_of
from tests import full_tables
from tests.browser import launched, opened
from tests.unit import toy_tables as made_up
from tests.unit.report.toy_reports import training
from tests.unit.tables.test_full_tables import STORIES, Records, Story, add_records, recipe, table

RECIPE = {
    "study": "all", "title": "All tables", "scale": "full", "scale_title": "full scale", "comparable": True,
    "fact_tables": [], "pretraining": {}, "corpora": [], "vocabs": [],
    "datasets": [], "sources": [],
}  # fmt: skip


EXAMPLE = Path("docs/example-report.html")
PICTURE = Path("docs/images/report.png")
EXAMPLE_TABLES = ("gu2020/table06", "gu2020/table10", "tinn2021/table02")


def write(folder: Path, names: Sequence[str] = (), story: Callable[[str], Story] | None = None) -> Report:
    """Write the files of the report; unless a story is given by cell, tables take turns at the stories of how
    far ours is from published."""
    names, paths = names or sorted(full_tables.specs().tables), Paths(study=str(RECIPE["study"]))
    for number, name in enumerate(names):
        found: Records = {}
        for known in (recipe(name), *recipe(name).others.values()):
            add_records(found, known, story or list(STORIES.values())[number % len(STORIES)])
        made = table(name, found)
        _put(folder / paths.table(name, "json"), to_json(made))
        put_trainings(folder, found)
        _put(folder / paths.comparisons(name, "json"), to_json(made_up.compared(made)))
    return read(folder, names)


def read(folder: Path, names: Sequence[str] = ()) -> Report:
    names = names or sorted(full_tables.specs().tables)
    models = list(dict.fromkeys(c.model for name in names for c in recipe(name).columns if c.model))
    statements = full_tables.graph().report.statement_files(full_tables.SPECS)
    own = {"tables": names, "models": models, "statements": statements}
    return read_report(build(ReportRecipe, RECIPE | own, "here"), folder)


def _varied(cell: str) -> Story:
    """Return a story as a study might tell it: mostly within a margin, now and then far."""
    drawn = random.Random(cell)
    return Story(drawn.gauss(0, 0.7), drawn.uniform(0.1, 0.7), "")


def example() -> str:
    with tempfile.TemporaryDirectory() as folder:
        report = write(Path(folder), EXAMPLE_TABLES, _varied)
    rows = [row for name in EXAMPLE_TABLES for row in recipe(name).rows]
    datasets = dict.fromkeys(row.dataset for row in rows if row.dataset)
    label: dict[str, Any] = {
        "study": "example", "title": "Example of a report",
        "scale_title": "An example: every value called ours is made up, and the files beside it do not exist",
        "comparable": False, "statements": (),
        "datasets": tuple(map(full_tables.graph().datasets.page, datasets)),
    }  # fmt: skip
    unlike: dict[str, Any] = {"comparable": False, "scale_title": "an example with made-up numbers"}
    tables = {name: replace(table, **unlike) for name, table in report.tables.items()}
    return render(replace(report, recipe=replace(report.recipe, **label), tables=tables, statements={}))


def picture() -> bytes:
    """Return the first table of the example, as a desktop browser shows it, in a PNG of 64 colours."""
    import playwright.sync_api
    from PIL import Image

    with launched(playwright.sync_api) as chromium:
        page = opened(chromium, EXAMPLE.absolute().as_uri())
        page.set_viewport_size({"width": 1280, "height": 1060})
        page.locator("h2", has_text="Table 6").first.evaluate("heading => heading.scrollIntoView()")
        page.wait_for_timeout(500)  # the contents follow where the reader is
        shown = Image.open(BytesIO(page.screenshot())).convert("RGB")
    shown.quantize(64).save(found := BytesIO(), "PNG", optimize=True)
    return found.getvalue()


def put_trainings(folder: Path, records: Records) -> None:
    """Write notes on the training of each record, by its recipe; where the learning rate is searched, models
    chose different ones."""
    for path in records:
        run, seed = run_of(path)
        values = _finetuning_recipe(run)
        epochs = range(values.get("epochs", 0))
        scores = [0.9 - 0.5 / (epoch + 1) + math.sin(epoch + seed) / 50 for epoch in epochs]
        notes = training(values, scores, [0.9 / (epoch + 1) for epoch in epochs])
        _put(folder / RELATIVE.training(run, seed), json.dumps(notes))


@cache
def _finetuning_recipe(run: RunKey) -> dict[str, Any]:
    """Return the recipe of a run; supplied predictions have none."""
    if run.protocol not in full_tables.specs().protocols:
        return {"task": "tokens"}
    decided = full_tables.graph().runs.recipe(run)
    chosen: Any = {"learning_rate": 1e-5 * len(run.model), "batch_size": 16, "epochs": 60}
    usual = asdict(FinetuningRecipe(task="tokens", metric="entity_f1", **chosen))
    found: dict[str, Any] = to_jsonable_python(usual | chosen | decided)
    return found


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        _put(Path(sys.argv[1]) / RELATIVE.report("all", "html"), render(write(Path(sys.argv[1]))))
    else:
        _put(EXAMPLE, example())
        PICTURE.write_bytes(picture())
