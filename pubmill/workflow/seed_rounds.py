"""The next seeds of protocols that decide by finished runs how many they need."""

from pathlib import Path

from pubmill.stages import Graph
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import RunKey


def decide_seeds(graph: Graph) -> None:
    """Decide how many seeds of each run the study makes now; nothing if no protocol of it is adaptive."""
    if tables := _adaptive_tables(graph):
        graph.seed_counts.decide(_counts(graph, tables))


def runs_left(graph: Graph) -> int:
    """Return how many runs the next start of Snakemake would add, by the runs finished since this one's."""
    tables = _adaptive_tables(graph)
    counts = _counts(graph, tables) if tables else {}
    return sum(max(0, count - len(graph.runs.seeds(run))) for run, count in counts.items())


def _adaptive_tables(graph: Graph) -> list[str]:
    return [table for table in graph.requests.result_tables() if graph.tables.is_adaptive(table)]


def _counts(graph: Graph, tables: list[str]) -> dict[RunKey, int]:
    """Return the number of seeds of each run of the study whose protocol is adaptive. If several tables share
    a run, the number is the largest that one of them needs."""
    # Imported here because only such studies need numpy before the first job.
    from pubmill.tables.seed_plan import seed_counts

    planned = Graph(graph.study, graph.specs, every_seed=True)
    counts: dict[RunKey, int] = {}
    for table in tables:
        needed = seed_counts(planned.tables.recipe(table), Path(planned.results), planned.records.is_current)
        cells = planned.tables.records(table).values()
        made = {run_of(path).run for rows in cells for paths in rows.values() for path in paths[:1]}
        counts |= {
            run: max(count, counts.get(run, 0))
            for run, count in needed.items()
            if run in made and graph.runs.adaptive(run.protocol, run.dataset)
        }
    return counts
