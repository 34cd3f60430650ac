"""Audit published values: which of them the stated test split, runs, aggregate and rounding can give.

    .venv/bin/python scripts/audit.py page
    .venv/bin/python scripts/audit.py value 87.56 --metric accuracy --n 140 --runs 10
    .venv/bin/python scripts/audit.py runs
    .venv/bin/python scripts/audit.py seen results/full/runs/blurb/pubmedbert-base/ncbi-disease/standard
    .venv/bin/python scripts/audit.py ranks gu2020/table06 --results results/full

`page` tests every published value of the five papers by the specs at full scale, and writes
reports/audit.json, reports/audit.md and reports/audit.html. `value` tests one printed number of any paper:
--n is the number of items of the test split (accuracy), of its gold items (f1, recall) or of its questions
(mrr). `runs` lists printed values that are equal although different runs make them here, and printed values
that differ although the same runs do, with the reasons; it fails if one has none. `seen` splits the scores of
runs on entities or relations by what the scored items share with the training split, from the runs' stored
predictions (pubmill.metrics.training_overlap defines the parts); with --corpora also by whether a corpus
contains the item's document, and by its year. Identifiers of mentions are read from concepts/DATASET.jsonl.gz
beside the runs, if it is there.
`ranks` ranks the models of a table by its published values, with a paired bootstrap over datasets; with
--results also by a study's own runs, over datasets, documents and seeds, and with CV* of the reproduction.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import PubmillError, run
from pubmill.graph.study_graph import audit_recipe, graph_of_all_tables
from pubmill.inspection.printed_values_of_runs import as_text as findings_as_text
from pubmill.inspection.printed_values_of_runs import check_reasons, findings_on_runs
from pubmill.messages.nearest_names import unknown
from pubmill.publication.audit_rendering import FORMS
from pubmill.statistics.score_arithmetic import METRICS, report
from pubmill.storage.checksums import write_forms
from pubmill.storage.result_paths import BELOW
from pubmill.tables.audit import audit
from pubmill.tables.cells import read_table
from pubmill.tables.overlap_of_runs import overlaps_of_runs
from pubmill.tables.overlap_text import as_text
from pubmill.tables.rank_text import as_text as as_ranking
from pubmill.tables.rank_text import reproductions_as_text
from pubmill.tables.ranks import rankings_of
from pubmill.tables.ranks_of_runs import rankings_of_runs
from pubmill.tables.reproductions import reproductions

SPECS = Path(__file__).resolve().parents[1] / "specs"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    page = commands.add_parser("page", help="test every published value")
    page.add_argument("--specs", type=Path, default=SPECS, help="folder of the specs")
    page.add_argument("--output", type=Path, default=Path(BELOW.audit()), help="path, without extension")
    value = commands.add_parser("value", help="test one printed number")
    value.add_argument("printed", help="the number as printed, in per cent, such as 87.56")
    value.add_argument("--metric", required=True, choices=METRICS, help="what the number is")
    value.add_argument("--n", required=True, type=int, help="items, gold items or questions")
    value.add_argument("--runs", type=int, default=1, help="number of runs (1)")
    value.add_argument("--aggregate", choices=("mean", "median", "max"), default="mean", help="over runs")
    runs = commands.add_parser("runs", help="compare printed values with the runs that make them")
    runs.add_argument("--specs", type=Path, default=SPECS, help="folder of the specs")
    seen = commands.add_parser("seen", help="split scores by what items share with training")
    seen.add_argument("runs", nargs="+", type=Path, help="folders of runs")
    seen.add_argument("--training", nargs="+", choices=("train", "dev"), default=("train",), help="splits")
    seen.add_argument(
        "--corpora", nargs="+", metavar="CORPUS", default=(), help="those that the models were pretrained on"
    )
    ranks = commands.add_parser("ranks", help="test which ranks of a table are resolved")
    ranks.add_argument("table", help="a table, such as gu2020/table06")
    ranks.add_argument("--results", type=Path, help="results folder of a study with the finished table")
    ranks.add_argument("--specs", type=Path, default=SPECS, help="folder of the specs")
    arguments = parser.parse_args()
    if arguments.command == "page":
        write_page(arguments.specs, arguments.output)
    elif arguments.command == "runs":
        graph = graph_of_all_tables(arguments.specs)
        found = findings_on_runs(graph, arguments.specs)
        print(findings_as_text(found))
        check_reasons(found, graph.specs)
    elif arguments.command == "seen":
        overlaps = overlaps_of_runs(arguments.runs, tuple(arguments.training), arguments.corpora)
        print("\n\n".join(map(as_text, overlaps)))
    elif arguments.command == "ranks":
        print(ranks_as_text(arguments.table, arguments.specs, arguments.results))
    else:
        print(report(arguments.printed, arguments.metric, arguments.n, arguments.runs, arguments.aggregate))


def write_page(specs: Path, output: Path) -> None:
    """Audit all published values and write the page in every form."""
    found = audit(audit_recipe(specs), specs)
    output.parent.mkdir(parents=True, exist_ok=True)
    for path in write_forms(output, found, FORMS):
        print(path)


def ranks_as_text(table: str, specs: Path, results: Path | None) -> str:
    """Return the rankings of a table, by its published values and by the runs in `results`."""
    tables = {one.name: one for one in audit_recipe(specs).tables}
    if table not in tables:
        raise PubmillError(unknown("table of results", table, list(tables)))
    audited = tables[table]
    found, why = rankings_of(audited, specs)
    parts = ["By the published values", *map(as_ranking, found), *([f"not ranked: {why}"] if why else [])]
    if results:
        made = read_table(results / BELOW.table(table, "json"))
        found, why = rankings_of_runs(audited, made, results)
        parts += ["By the runs", *map(as_ranking, found), *([f"not ranked: {why}"] if why else [])]
        parts += ["Reproduction: CV* of {published, ours}", reproductions_as_text(reproductions(made))]
    return "\n\n".join(parts)


if __name__ == "__main__":
    run(main)
