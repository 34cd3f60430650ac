"""`pubmill audit`."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, SPECS, Results, table_names
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Split
from pubmill.messages.nearest_names import unknown
from pubmill.messages.progress import report_progress
from pubmill.storage.result_paths import BELOW, Paths

APP = typer.Typer(
    help="Test which published numbers are possible. Without a further word, tests all and writes a page.",
)
PAGE = Path(BELOW.audit())
"""Path of the page, without extension."""


@APP.callback(invoke_without_command=True)
def audit(context: typer.Context) -> None:
    """Test which published numbers are possible.

    Without a further word, all published numbers are tested and a page is written.
    """
    checkout()
    if context.invoked_subcommand is None:
        page()


@APP.command()
def page(
    output: Annotated[Path, typer.Option(help="path of the page, without extension")] = PAGE,
) -> None:
    """Test every published value by the specs at full scale; write a page in every form."""
    from pubmill.graph.study_graph import audit_recipe
    from pubmill.report.audit_rendering import FORMS
    from pubmill.storage.checksums import write_forms
    from pubmill.tables.audit import audit as audit_values

    output.parent.mkdir(parents=True, exist_ok=True)
    for path in write_forms(output, audit_values(audit_recipe(SPECS), SPECS), FORMS):
        print(path)


@APP.command()
def value(
    printed: Annotated[str, typer.Argument(help="the number as printed, in per cent, such as 87.56")],
    metric: Annotated[str, typer.Option(help="accuracy, f1, recall or mrr")],
    n: Annotated[int, typer.Option(help="items (accuracy), gold items (f1, recall) or questions (mrr)")],
    runs: Annotated[int, typer.Option(help="number of runs")] = 1,
    aggregate: Annotated[Literal["mean", "median", "max"], typer.Option(help="over runs")] = "mean",
) -> None:
    """Test one printed number: value 87.56 --metric accuracy --n 140 --runs 10."""
    from pubmill.statistics.score_arithmetic import METRICS, report

    if metric not in METRICS:
        raise PubmillError(unknown("metric", metric, list(METRICS)))
    print(report(printed, metric, n, runs, aggregate))


@APP.command()
def runs() -> None:
    """Compare printed values with the runs that make them.

    Lists printed values that are equal although different runs make them here, and printed values that differ
    although the same runs do, with the reasons; the status is 1 if one has none.
    """
    from pubmill.graph.study_graph import graph_of_all_tables
    from pubmill.inspection.printed_values_of_runs import as_text, check_reasons, findings_on_runs

    graph = graph_of_all_tables(SPECS)
    found = findings_on_runs(graph, SPECS)
    print(as_text(found))
    check_reasons(found, graph.specs)


@APP.command()
def seen(
    folders: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="folders of runs")],
    dev: Annotated[bool, typer.Option("--dev", help="dev counts as training, too")] = False,
    corpora: Annotated[
        list[str] | None, typer.Option(help="corpus that the models were pretrained on; may be repeated")
    ] = None,
) -> None:
    """Split the scores of runs by what items share with training.

    For runs on entities or relations, from their stored predictions; with --corpora also by whether a corpus
    contains the item's document, and by its year.
    """
    from pubmill.tables.overlap_of_runs import overlaps_of_runs
    from pubmill.tables.overlap_text import as_text

    training: tuple[Split, ...] = ("train", "dev") if dev else ("train",)
    print("\n\n".join(map(as_text, overlaps_of_runs(folders, training, corpora or ()))))


@APP.command()
def ranks(
    table: Annotated[str, typer.Argument(help="such as gu2020/table06", autocompletion=table_names)],
    results: Annotated[
        Path | None, typer.Option(help="results of a study with the finished table: rank its runs, too")
    ] = None,
) -> None:
    """Test which ranks of a table are resolved, by a paired bootstrap over datasets.

    With --results also by a study's own runs, over datasets, documents and seeds, and with CV* of the
    reproduction.
    """
    from pubmill.graph.study_graph import audit_recipe
    from pubmill.tables.cells import read_table
    from pubmill.tables.rank_text import as_text, reproductions_as_text
    from pubmill.tables.ranks import rankings_of
    from pubmill.tables.ranks_of_runs import rankings_of_runs
    from pubmill.tables.reproductions import reproductions

    tables = {one.name: one for one in audit_recipe(SPECS).tables}
    if table not in tables:
        raise PubmillError(unknown("table of results", table, list(tables)))
    found, why = rankings_of(tables[table], SPECS)
    parts = ["By the published values", *map(as_text, found), *([f"not ranked: {why}"] if why else [])]
    if results:
        made = read_table(results / BELOW.table(table, "json"))
        found, why = rankings_of_runs(tables[table], made, results)
        parts += ["By the runs", *map(as_text, found), *([f"not ranked: {why}"] if why else [])]
        parts += ["Reproduction: CV* of {published, ours}", reproductions_as_text(reproductions(made))]
    print("\n\n".join(parts))


@APP.command()
def scorers(
    predictions: Annotated[Path, typer.Argument(help="the file of predictions")],
    dataset: Annotated[str, typer.Option(help="name of its spec, for example ncbi-disease")],
    split: Annotated[Split, typer.Option(help="the split predicted")] = "test",
    results: Results = FULL,
    which: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="name the scorers that give a printed number")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON; scores are fractions")] = False,
) -> None:
    """Score predictions by every scorer of the literature.

    Prints each scorer, its score in per cent, and who scores in this way. With --which, names those that
    round to a number, in per cent; if none does, the nearest, with status 1.
    """
    from pubmill.inspection.converted_datasets import check_name
    from pubmill.inspection.scorer_printing import print_scores
    from pubmill.library.loaded_datasets import load_dataset
    from pubmill.metrics.conventions import matching
    from pubmill.specs import load
    from pubmill.tables import convention_scores

    specs = load(SPECS, "full")
    check_name(specs, dataset)
    splits = load_dataset(dataset, results)
    if split not in splits:
        raise PubmillError(f"{dataset} has no split {split}; its splits are {', '.join(splits)}")
    scores = convention_scores.scores_by_convention(specs.datasets[dataset], splits[split].path, predictions)
    if which is not None:
        print(convention_scores.which(scores, which))
        raise typer.Exit(0 if matching(scores, which) else 1)
    if as_json:
        print(json.dumps(convention_scores.rows(scores), indent=2, ensure_ascii=False))
    else:
        print_scores(scores)


@APP.command()
def floors(
    dataset: Annotated[list[str] | None, typer.Option(help="only this one; may be repeated")] = None,
    results: Results = FULL,
    output: Annotated[Path | None, typer.Option(help="folder to write (floors in --results)")] = None,
    form: Annotated[str, typer.Option("--format", help="of the table: text, md, csv, json")] = "text",
) -> None:
    """Score predictions that need no learning, or only seconds of it.

    Writes DATASET/FLOOR.predictions.jsonl.gz and FLOOR.json, and prints the table beside the published
    scores; of all converted datasets unless --dataset names some.
    """
    from pubmill.floors.floors_table import FORMS
    from pubmill.floors.headroom import ceiling_of, headroom
    from pubmill.floors.measured import measure_floors
    from pubmill.inspection.converted_datasets import check_name, datasets_with_splits
    from pubmill.library.loaded_datasets import load_dataset
    from pubmill.specs import load

    if form not in FORMS:
        raise PubmillError(unknown("format", form, list(FORMS)))
    specs = load(SPECS, "full")
    names = dataset or datasets_with_splits(sorted(specs.datasets), results, ("train", "test"))
    folder = output or Path(Paths(results).floors())
    found = []
    for name in names:
        check_name(specs, name)
        data, splits = specs.datasets[name], load_dataset(name, results)
        measured = measure_floors(data, {split: one.path for split, one in splits.items()}, folder / name)
        found.append(headroom(data, measured, ceiling_of(data, splits["test"]), specs, SPECS))
        report_progress(f"{len(found)} of {len(names)}: {name}")
    print(FORMS[form](found), end="")
