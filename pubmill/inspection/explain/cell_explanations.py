"""Explain a table cell: its runs, their recipes, data and weights, and the sources of those, down to source
files, as far as the results folder records them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.inspection.explain.table_statements import WeighedStatement, fact_statements, weighed
from pubmill.messages import commands
from pubmill.messages.wording import unknown
from pubmill.metrics.records import read_record
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.fact_tables import FactSource, FactTableRow
from pubmill.recipes.finetuning import keys_in_use
from pubmill.recipes.models import LocalWeights, PretrainedWeights, RandomWeights
from pubmill.recipes.reading import as_values
from pubmill.recipes.tables import Column, Difference, Row, TableRecipe
from pubmill.report.study_report import read_log, read_sources
from pubmill.specs.cell_sources import AffectedCells
from pubmill.specs.fidelity import recipe_defaults
from pubmill.stages import Graph, published_values
from pubmill.stages.supplied_predictions import OFF_THE_SHELF
from pubmill.storage.files import read_json
from pubmill.storage.result_paths import (
    DIAGNOSIS,
    RELATIVE,
    STATE,
    STATISTICS,
    Paths,
    RunKey,
    manifest_of,
    run_of,
)
from pubmill.tables.aggregation import finished_table, machine
from pubmill.tables.cells import Table, find_unique, label_and_key, matching_items
from pubmill.tables.fact_cells import build as build_facts
from pubmill.tables.fact_cells import read_artefacts, read_facts

Account = dict[str, Any]
"""Name -> a value, a list, or another account; missing items have a note as their value."""
NOT_THERE = "not there"
SOURCE = ("url", "sha256", "bytes", "origin", "retrieved")
KEPT_FIELDS = {
    "split", "collapsed", "dev_score", "dev_split", "max_length", "seconds", "commit", "python", "packages",
    "versions", "recipe", "data_sha256", "trained_on_sha256", "model_sha256", "scored_with",
}  # fmt: skip
"""Fields of a record that describe how it was made."""
MOST_FILES = 10
"""Files that a command names one by one; the runs of a cell are at most so many."""
SWITCHES = (
    "negative head_sizes crf oversample evaluate_every stop_after frozen_layers layerwise_decay "
    "reinitialised_layers removed_layers train_on"
).split()
"""Keys of a recipe that are shown only where they differ from their default, which switches them off."""


@dataclass(frozen=True)
class CellRun:
    """One run of a cell: the file of its record, and its content; `facts` is empty if it is missing."""

    file: str
    dataset: str
    seed: int
    score: float | None
    failed: str | None
    facts: Account


@dataclass
class Explanation:
    """A cell and everything that it depends on.

    `value`: our value, with spread, published value, difference and the cell's other fields; `refused`: why
    the table shows no value although runs exist; `reasons`: why it is made as it is, or is not comparable;
    `statements`: those that it depends on; `recipe`: the keys that its runs use; `search`: the grid, who
    searched it, and what was chosen; `parts`: the cells that it is computed from, if it has no runs of its
    own; `lacking`: missing files below the results folder; `to_do`: commands that make them, or other steps.
    """

    table: str
    row: str
    column: str
    scale: str
    value: Account
    refused: str | None = None
    reasons: tuple[str, ...] = ()
    statements: tuple[WeighedStatement, ...] = ()
    setting: Account | None = None
    runs: tuple[CellRun, ...] = ()
    recipe: Account | None = None
    search: Account | None = None
    data: tuple[Account, ...] = ()
    weights: Account | None = None
    parts: tuple["Explanation", ...] = ()
    lacking: tuple[str, ...] = ()
    to_do: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explainer:
    """Inputs of every explanation; `configfiles` and `settings` come from the command line."""

    graph: Graph
    specs: Path
    configfiles: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def results(self) -> Path:
        return Path(self.graph.results)

    def published(self, table: str) -> Path:
        return Path(published_values(table, self.specs))

    def command(self, table: str, files: Sequence[str], settings: Sequence[str] = ()) -> str:
        """The command that makes files of the results folder, or the whole table if they are many; perhaps
        with other `settings`. The files of a run's seeds are made by way of its manifests."""
        asked = dict.fromkeys(map(manifest_of, files))
        many = not 0 < len(asked) <= MOST_FILES
        paths = [self.graph.paths.table(table, "html")] if many else [*map(self.graph.paths.at, asked)]
        configuration = commands.configuration_options(self.configfiles, (*self.settings, *settings))
        return commands.run_files(*paths, configuration=configuration)


def explain(explainer: Explainer, table: str, row: str, column: str) -> Explanation:
    """Explain the cell with these keys or labels; the error for an unknown name lists the nearest names."""
    specs = explainer.graph.specs
    if table in specs.fact_tables:
        return _explain_fact(explainer, table, row, column)
    if table not in specs.tables:
        raise PubmillError(unknown("table", table, [*specs.tables, *specs.fact_tables]))
    recipe = explainer.graph.tables.recipe(table)
    rows = recipe.all_rows

    def fit(one: str, other: str) -> bool:
        return bool(matching_items(one, rows, _own_key) and matching_items(other, recipe.columns, _own_key))

    if not fit(row, column) and fit(column, row):
        row, column = column, row  # papers print tables in both orientations
    found = find_unique("row", row, rows, _own_key), find_unique("column", column, recipe.columns, _own_key)
    made = refused = None
    try:
        made = table_of_cell(recipe, *found, explainer.published(table), explainer.results)
    except PubmillError as error:
        refused = str(error)
    shown = _explain_cell(explainer, table, recipe, made, *found)
    shown.refused = refused
    return shown


def missing_name(graph: Graph, table: str, name: str) -> str:
    """Return what to name beside a row, the columns, or beside a column, the rows; a `PubmillError` if a
    table has neither of this name."""
    is_facts = table in graph.specs.fact_tables
    recipe: Any = graph.fact_tables.recipe(table) if is_facts else graph.tables.recipe(table)
    rows = recipe.rows if is_facts else recipe.all_rows
    is_column = bool(matching_items(name, recipe.columns, _own_key))
    if not is_column:
        find_unique("row", name, rows, _own_key)
    what, others = ("ROW", rows) if is_column else ("COLUMN", recipe.columns)
    names = "\n".join(f"  {label_and_key(_own_key(one), one.label)}" for one in others)
    return f"{what} is missing: a cell has a row and a column. {table} has these {what.lower()}s:\n{names}"


def _own_key(one: Any) -> str:
    return str(one.subject if isinstance(one, FactTableRow) else one.key)


def _explain_cell(
    explainer: Explainer,
    table: str,
    recipe: TableRecipe,
    made: Table | None,
    row: Row,
    column: Column,
    is_part: bool = False,
) -> Explanation:
    cell = made.cells[column.key][row.key] if made else None
    rows = {one.key: one for one in recipe.rows}
    columns = {one.key: one for one in recipe.columns}
    behind = [(rows[name], column) for name in _rows_behind(recipe, row)]
    behind = behind or [(row, columns[name]) for name in column.sources]
    titles = label_and_key(row.key, row.label), label_and_key(column.key, column.label)
    places = {f"{column.key}/{row.key}", f"{column.key}/", f"/{row.key}"}
    reasons = tuple(reason.text for reason in recipe.reasons if not places.isdisjoint(reason.cells))
    value = cell.model_dump(exclude={"seeds", "copied_from", "minus"}) if cell else {}
    shown = Explanation(table, *titles, recipe.scale, {"metric": row.metric, **value}, reasons=reasons)
    if not is_part:
        cells = {(table, of.key, one.key) for one, of in behind or [(row, column)]}
        graph = explainer.graph
        affected = AffectedCells(graph.specs, {table: graph.table_models.columns(table)})
        shown.statements = weighed(explainer.specs, affected, cells)
    if origin := recipe.copied.get(f"{column.key}/{row.key}"):
        shown.parts = (explain(explainer, origin.table, origin.row, origin.column),)
        return shown
    if difference := _difference_of(recipe, row):
        of, minus = _row_of(recipe, difference.of), difference.minus.get(column.key)
        shown.parts = (_explain_cell(explainer, table, recipe, made, of, column),)
        shown.parts += (explain(explainer, minus.table, minus.row, minus.column),) if minus else ()
    elif behind:
        parts = (_explain_cell(explainer, table, recipe, made, *part, is_part=True) for part in behind)
        shown.parts = tuple(parts)
    else:
        _add_runs(explainer, shown, recipe, row, column)
        return shown
    shown.lacking = tuple(dict.fromkeys(file for part in shown.parts for file in part.lacking))
    steps = dict.fromkeys(step for part in shown.parts if not part.lacking for step in part.to_do)
    made_by = (explainer.command(table, () if behind else shown.lacking),) if shown.lacking else ()
    shown.to_do = (*made_by, *steps)
    return shown


def _add_runs(
    explainer: Explainer, shown: Explanation, recipe: TableRecipe, row: Row, column: Column
) -> None:
    """Add runs, recipe, data and weights of a cell that has, or should have, runs of its own."""
    graph, paths = explainer.graph, recipe.records.get(column.key, {}).get(row.key, ())
    shown.runs = tuple(_cell_run(explainer, path, row.metric) for path in paths)
    shown.lacking = tuple(run.file for run in shown.runs if not run.facts)
    own = recipe.datasets.get(f"{column.key}/{row.key}")
    data = (own,) if own else row.folds or ((row.dataset,) if row.dataset else ())
    shown.data = tuple(dataset_account(graph, name) for name in data if name in graph.specs.datasets)
    model = run_of(paths[0]).run.model if paths else column.model
    if model in graph.specs.models:
        shown.weights = weights_account(graph, model)
    if not paths:
        shown.to_do = (_step_to_runs(explainer, shown.table, row, column),)
        return
    if shown.lacking:
        shown.to_do = (explainer.command(shown.table, shown.lacking),)
    run, folder = run_of(paths[0]).run, str(Path(graph.results, paths[0]).parent)
    shown.setting = {"protocol": run.protocol, "setting": run.setting, "folder": folder}
    shown.recipe = next((one.facts["recipe"] for one in shown.runs if one.facts), None)
    if run.protocol == OFF_THE_SHELF or shown.weights is None:
        return
    defaults = recipe_defaults(FinetuningRecipe)  # the recipe: of a record, or as the runs are planned
    values = defaults | graph.runs.recipe(run) | (shown.recipe or {})
    used = keys_in_use(values, graph.specs.datasets[run.dataset].task) & values.keys()
    shown.recipe = {
        one.name: values[one.name]
        for one in fields(FinetuningRecipe)
        if one.name in used and not (one.name in SWITCHES and values[one.name] == defaults.get(one.name))
    }
    shown.search = _search_account(graph, run)


def _cell_run(explainer: Explainer, path: str, metric: str) -> CellRun:
    file, (run, seed) = explainer.results / path, run_of(path)
    if not file.is_file():
        return CellRun(path, run.dataset, seed, None, "no record", {})
    record = read_record(file)
    score = 100 * record.metrics[metric] if record.metrics and metric in record.metrics else None
    facts = {**record.model_dump(include=KEPT_FIELDS), "machine": machine(record.hardware)}
    return CellRun(path, run.dataset, seed, score, record.failed, facts)


def _search_account(graph: Graph, run: RunKey) -> Account | None:
    """Return the grid that is searched for a run, by which models, and what was chosen; None if its
    protocol gives all values."""
    choice = graph.runs.choice(run)
    if choice is None:
        return None
    path, protocol = Path(graph.paths.choice(choice)), graph.runs.protocol(run.protocol)
    models = graph.runs.searchers(choice)
    assert protocol.search
    account: Account = {
        "grid": protocol.grid(graph.specs.datasets[choice.dataset], models[0], choice.setting),
        "models": models,
        "seeds": protocol.search.seeds,
        "dataset": choice.dataset,
        "setting": choice.setting,
        "file": str(path),
    }
    if not path.is_file():
        return account | {"chosen": "not yet"}
    chosen = read_json(path)
    return account | {key: chosen.get(key) for key in ("chosen", "mean_dev", "failed")}


def _step_to_runs(explainer: Explainer, table: str, row: Row, column: Column) -> str:
    """Return what to do for runs of a cell, of which the study has none."""
    graph, study = explainer.graph, explainer.graph.study
    if column.model not in graph.specs.models:
        return f"write specs/models/{column.model or column.key}.yaml"
    wider = []
    if study.models is not None and column.model not in study.models:
        wider.append(f"models=[{', '.join([*study.models, column.model])}]")
    if study.datasets is not None and row.dataset and row.dataset not in study.datasets:
        wider.append(f"datasets=[{', '.join([*study.datasets, row.dataset])}]")
    if wider:
        return explainer.command(table, (), wider)
    return commands.pubmill("doctor", *commands.verb_options(explainer.configfiles, explainer.settings))


def _explain_fact(explainer: Explainer, table: str, row: str, column: str) -> Explanation:
    """Explain a cell of a fact table; its value comes from a spec or from artefacts."""
    graph = explainer.graph
    recipe = graph.fact_tables.recipe(table)
    found_row = find_unique("row", row, recipe.rows, _own_key)
    found_column = find_unique("column", column, recipe.columns, _own_key)
    source = found_row.sources[found_column.key]
    if lacking := [file for file in source.paths if not (explainer.results / file).is_file()]:
        source = FactSource(lacking="not made yet")
    alone = replace(found_row, sources={found_column.key: source})
    recipe = replace(recipe, rows=(alone,), columns=(found_column,))
    published = read_facts(explainer.published(table), recipe)
    place = [alone.published, found_column.published, found_column.kind]
    own = (published[["subject", "fact", "kind"]] == place).all(axis=1)
    made = build_facts(recipe, published[own], read_artefacts(recipe, explainer.results))
    titles = label_and_key(alone.subject, alone.label), label_and_key(found_column.key, found_column.label)
    value = made.cells[alone.subject][found_column.key].model_dump()
    shown = Explanation(table, *titles, recipe.scale, value, lacking=tuple(lacking))
    spec = graph.specs.fact_tables[table]
    shown.statements = fact_statements(explainer.specs, graph.specs, spec, {alone.subject})
    if recipe.subjects == "datasets" and alone.subject in graph.specs.datasets:
        shown.data = (dataset_account(graph, alone.subject),)
    if lacking:
        shown.to_do = (explainer.command(table, lacking),)
    return shown


def _rows_behind(recipe: TableRecipe, row: Row) -> tuple[str, ...]:
    """Return the rows from which a composite is computed."""
    composite = next((one for one in recipe.composites if one.name == row.key and row.dataset is None), None)
    return tuple(name for group in composite.groups.values() for name in group) if composite else ()


def _difference_of(recipe: TableRecipe, row: Row) -> Difference | None:
    """Return the difference that a row shows; None if it shows something else."""
    return next((one for one in recipe.differences if one.name == row.key and row.dataset is None), None)


def _row_of(recipe: TableRecipe, key: str) -> Row:
    return next(one for one in recipe.all_rows if one.key == key)


def table_of_cell(recipe: TableRecipe, row: Row, column: Column, published: Path, results: Path) -> Table:
    """Build the table with only the records that a cell needs, also of another table that it refers to."""
    difference = _difference_of(recipe, row)
    of = _row_of(recipe, difference.of) if difference else row
    rows, columns = _rows_behind(recipe, of) or (of.key,), column.sources or (column.key,)
    known = {name: recipe.records[name] for name in columns if name in recipe.records}
    records = {name: {key: paths for key, paths in of.items() if key in rows} for name, of in known.items()}
    copied = {key: cell for key, cell in recipe.copied.items() if key == f"{column.key}/{row.key}"}
    referring = (column.key, row.key)  # the only cell that may refer to another table
    differences = tuple(
        replace(one, minus={key: cell for key, cell in one.minus.items() if (key, one.name) == referring})
        for one in recipe.differences
    )
    used = {cell.table for cells in (copied, *(one.minus for one in differences)) for cell in cells.values()}
    others = {name: other for name, other in recipe.others.items() if name in used}
    narrow = replace(recipe, records=records, copied=copied, differences=differences, others=others)
    return finished_table(narrow, published, results)


def _content(file: str) -> Account:
    """Return the content of a JSON file, empty if it is not there."""
    return dict(read_json(Path(file))) if Path(file).is_file() else {}


def dataset_account(graph: Graph, dataset: str) -> Account:
    """A dataset: terms, counts and hashes of its examples, each source file."""
    spec, card = graph.specs.datasets[dataset], _content(graph.paths.card(dataset))
    sources: Account = {}
    for role, file in graph.datasets.inputs(dataset).items():
        content = _content(graph.paths.source_record(file))
        sources[role] = {key: content.get(key) for key in SOURCE} if content else NOT_THERE
    return {
        "dataset": dataset,
        "access": spec.access,
        "licence": spec.licence,
        "converter": spec.converter,
        "counts": card.get("counts", NOT_THERE),
        "examples sha256": card.get("examples_sha256", NOT_THERE),
        "sources": sources,
    }


def weights_account(graph: Graph, model: str) -> Account:
    """Describe a model's weights: the release, or the recipe, corpus and vocabulary behind them."""
    weights = graph.models.weights(model)
    stated = {key: one for key, one in as_values(weights).items() if one is not None or key == "revision"}
    account = {"model": model, **stated, **graph.models.pin(model)}
    if isinstance(weights, LocalWeights):
        account["folder"] = graph.folders.find(weights.local) or NOT_THERE
    if isinstance(weights, PretrainedWeights):
        account |= _recipe_account(graph, weights.recipe, weights.step)
    elif isinstance(weights, RandomWeights):
        spec = graph.specs.pretraining[weights.recipe]
        network = spec.recipe.architecture
        sizes = as_values(network)
        if network.family != "modernbert":
            del sizes["rotary"]  # which only a ModernBERT has
        account |= {"architecture": sizes, "vocabulary": _vocabulary_account(graph, spec.vocab)}
    return account


def _recipe_account(graph: Graph, recipe: str, step: int) -> Account:
    """Describe a pretraining up to a checkpoint: initial weights, corpus, vocabulary and teacher."""
    spec = graph.specs.pretraining[recipe]
    state = _content(graph.paths.checkpoint(recipe, step, STATE))
    training: Account = {}
    if state:  # tokens, loss, time and machine, from the checkpoint's own state and log
        log = read_log(Path(graph.paths.checkpoint(recipe, step, "log.jsonl")))
        training = {"step": state["step"], "tokens": state["tokens"], "loss": log[-1]["loss"]}
        training |= {"seconds": state["seconds"], "machine": machine(state["hardware"])}
        training |= {key: state.get(key) for key in ("commit", "python", "packages")}
    account: Account = {
        "checkpoint": RELATIVE.checkpoint(recipe, step),
        "training": training or NOT_THERE,
        "values": state.get("recipe") if state else as_values(spec.recipe),
        "corpus": _corpus_account(graph, spec.corpus),
        "vocabulary": _vocabulary_account(graph, spec.vocab),
    }
    if spec.start and spec.start.model:
        account["began with"] = weights_account(graph, spec.start.model)
    elif spec.start and spec.start.recipe and spec.start.step:
        account["began with"] = _recipe_account(graph, spec.start.recipe, spec.start.step)
    if spec.teacher:
        account["teacher"] = weights_account(graph, spec.teacher)
    return account


def _corpus_account(graph: Graph, corpus: str) -> Account:
    """Counts of a corpus, and its source files by folder."""
    figures = _content(graph.paths.corpus(corpus, STATISTICS))
    kept = ("documents", "words", "bytes", "parsed", "rejected")
    counts = {key: figures[key] for key in kept if key in figures} or NOT_THERE
    account = {"corpus": corpus, "counts": counts}
    try:
        files = [shard.file for shard in graph.corpora.shards(corpus)]
    except PubmillError as error:
        return {**account, "sources": f"not known: {error}"}
    return {**account, "sources": source_folders(Path(graph.results), files)}


def source_folders(results: Path, files: Iterable[str]) -> Any:
    """Source files by folder; a folder of many files has one digest for all."""
    records = [RELATIVE.source_record(Paths(results).below(file)) for file in files]
    there = [record for record in records if (results / record).is_file()]
    folders: Account = {
        one.name: {
            "files": one.count,
            "bytes": one.bytes,
            "retrieved": one.retrieved,
            "origin": ", ".join(one.origins),
            "sha256 of the list": one.sha256,
            **{str(file["name"]): {key: file[key] for key in SOURCE} for file in one.files},
        }
        for one in read_sources(results, there)
    }
    lacking = len(records) - len(there)
    return folders | ({NOT_THERE: f"{lacking} of {len(records)} files"} if lacking else {})


def _vocabulary_account(graph: Graph, vocab: str) -> Account:
    diagnosis = _content(graph.paths.vocab(vocab, DIAGNOSIS))
    kept = ("size", "documents", "words", "subwords_per_word")
    spec = graph.specs.vocabs[vocab].model_dump(include={"kind", "corpus", "model"}, exclude_none=True)
    facts = {key: diagnosis[key] for key in kept if key in diagnosis}
    return {"vocabulary": vocab, **spec, **(facts or {"diagnosis": NOT_THERE})}
