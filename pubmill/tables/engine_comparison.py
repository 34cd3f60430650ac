"""The runs of one prompted model on several engines, row by row of a table."""

from collections.abc import Iterator, Mapping

from pubmill.statistics.engine_variance import engine_variance
from pubmill.tables.cells import Table
from pubmill.tables.table_frames import run_frame


def engine_lines(table: Table, engine_of: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each row in which a model has complete cells on several engines; `engine_of`: model ->
    the model that it is an engine of, itself if it is the first."""
    runs = run_frame(table)
    runs = runs[runs["complete"].astype(bool)]
    families = {
        one.key: engine_of[one.model] for one in table.columns if one.model and one.model in engine_of
    }
    for family in dict.fromkeys(families.values()):
        keys = [key for key, of_key in families.items() if of_key == family]
        for row, of_row in runs[runs["column"].isin(keys)].groupby("row", sort=False):
            engines = [scores.tolist() for _, scores in of_row.groupby("column", sort=False)["score"]]
            if len(engines) > 1:
                yield f"{family}, {row}: {_stated(engines)}"


def _stated(engines: list[list[float]]) -> str:
    variance = engine_variance(engines)
    low, high = variance.interval
    within = "one run each" if variance.within is None else f"{variance.within:.2f} between the runs of one"
    return (
        f"standard deviation between {len(engines)} engines {variance.between:.2f} points "
        f"(95 % interval {low:.2f} to {high:.2f}; {within})"
    )
