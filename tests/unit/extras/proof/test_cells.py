"""The verifier's cells: published values, runs found on disk, and differences between cells."""

import re
from typing import Any

import pytest

from pubmill.extras.proof.verifier.cells import NO_RECORD, Builder, follow, read_published
from pubmill.extras.proof.verifier.container import RefusedError

HEADER = "column,row,metric,value,note\n"
SEEDS = (1, 2, 3)


def published(*lines: str, left_out: dict[str, str] | None = None) -> dict[tuple[str, str, str], Any]:
    return read_published((HEADER + "\n".join(lines)).encode(), left_out or {}, "t.csv")


def path(dataset: str, seed: int, model: str = "ours") -> str:
    return f"runs/blurb/{model}/{dataset}/standard/final/seed-{seed}.json"


def row(key: str, **more: Any) -> dict[str, Any]:
    own = {
        "key": key,
        "dataset": key,
        "label": key.title(),
        "metric": "f1",
        "published": key,
        "printed": "f1",
    }
    return own | {"folds": [], "not_comparable": None} | more


def column(key: str) -> dict[str, Any]:
    kinds: dict[str, Any] = {"pipeline": False, "best_of": [], "drop": None}
    return {"key": key, "label": key, "model": key, "published": [key]} | kinds


def builder(
    name: str,
    lines: tuple[str, ...] = (),
    scores: dict[str, float] | None = None,
    others: dict[str, Builder] | None = None,
    shown: Any = None,
    **changes: Any,
) -> Builder:
    """Return the cells of a table with one model and one dataset, which has its name."""

    def score(record: str, metric: str) -> tuple[float | None, str | None, bool]:
        found = (scores or {}).get(record)
        return found, None if found is not None else NO_RECORD, False

    names = [name, *(one["name"] for one in changes.get("differences", []))]
    margins = {one: {"points": 3.0, "why": "made up"} for one in names}
    recipe: dict[str, Any] = {
        "columns": [column("ours")], "rows": [row(name)], "composites": [], "aggregate": "mean",
        "records": {"ours": {name: [path(name, seed) for seed in SEEDS]}}, "found": [], "comparable": True,
        "equivalence": {"alpha": 0.05, "power": 0.8, "runs": {name: 5}, "margins": margins},
    }  # fmt: skip
    return Builder(recipe | changes, published(*lines), score, shown or {}, others or {})


def test_published_values_have_their_columns() -> None:
    with pytest.raises(RefusedError, match=r"t\.csv: its columns are not column, row, metric, value, note"):
        read_published(b"row,column,metric,value,note\n", {}, "t.csv")
    found = published("ours,words,f1,-70.50,from v2", "ours,words,recall,,")
    value = {"value": -70.5, "printed": "-70.50", "note": "from v2", "recomputed": None}
    assert found == {("ours", "words", "f1"): value}


@pytest.mark.parametrize(
    "lines",
    [("ours,words,f1,70.5,", "ours,words,f1,,"), ("ours,words,f1,70.5,,more",), ("ours,words,f1,~70,",),
     ("ours,words,f1,1e2,",), ("ours,words,f1,70.,",)],
)  # fmt: skip
def test_a_repeated_or_unreadable_published_value_is_refused(lines: tuple[str, ...]) -> None:
    message = "t.csv: a line is repeated or no value: ours, words, f1"
    with pytest.raises(RefusedError, match=f"^{re.escape(message)}$"):
        published(*lines)


@pytest.mark.parametrize("hidden", ["words", "words/f1"])
def test_a_value_that_is_left_out_may_be_any_text(hidden: str) -> None:
    found = published("ours,words,f1,~70,", "ours,topics,f1,60,", left_out={hidden: "not printed"})
    assert [*found] == [("ours", "topics", "f1")]


@pytest.mark.parametrize(("found", "seeds", "expected"), [(True, [], 0), (True, [1], 3), (False, [], 3)])
def test_runs_found_on_disk_count_only_where_the_table_shows_some(
    found: bool, seeds: list[int], expected: int
) -> None:
    scores = {path("words", seed): 70.0 + seed for seed in SEEDS}
    shown = {"ours": {"words": {"seeds": seeds}}}
    made = builder("words", scores=scores, shown=shown, found=["ours/words"] if found else [])
    cell = made.cells["ours"]["words"]
    assert (cell["n"], cell["expected"], cell["value"]) == (expected, expected, 72.0 if expected else None)


def gap(
    printed: str,
    reference: bool = True,
    values: tuple[str, str] = ("73", "70"),
    own: dict[str, Any] | None = None,
    parent: dict[str, Any] | None = None,
    runs: tuple[float | None, float | None] = (80.0, 75.0),
) -> Any:
    """Return the cell of the difference between two tables with `values` as published and `runs` as found."""

    def scores(name: str, first: float | None) -> dict[str, float]:
        return {} if first is None else {path(name, seed): first + 0.1 * seed for seed in SEEDS}

    lines = tuple(f"ours,topics,f1,{value}," for value in values[1:] if value)
    other = builder("topics", lines, scores("topics", runs[1]), **(parent or {}))
    refers = {"table": "other", "column": "ours", "row": "topics", "linked": True}
    spec = {"name": "gain", "label": "Gain", "of": "words", "minus": {"ours": refers} if reference else {}}
    lines = tuple(f"ours,{name},f1,{value}," for name, value in (("words", values[0]), ("gain", printed)))
    more = {"differences": [spec | {"published": "gain", "printed": "f1"}], **(own or {})}
    made = builder("words", lines, scores("words", runs[0]), {"other": other}, **more)
    return made.cells["ours"]["gain"]


def test_a_difference_without_a_second_cell_is_only_published() -> None:
    cell = gap("4.5", reference=False)
    assert (cell["value"], cell["n"], cell["expected"], cell["published"]["value"]) == (None, 0, 0, 4.5)
    assert (cell["published"]["recomputed"], cell["difference"]) == (None, None)


@pytest.mark.parametrize(
    ("printed", "values", "recomputed"),
    [("4", ("73", "70"), None), ("4.5", ("73", "70"), 3.0), ("3.1", ("73.5", "70.25"), 3.25),
     ("3.2", ("73.5", "70.25"), None), ("9", ("73", ""), None), ("9", ("", "70"), None)],
)  # fmt: skip
def test_a_printed_difference_that_does_not_follow_is_noted(
    printed: str, values: tuple[str, str], recomputed: float | None
) -> None:
    """Each of the three printed values may be wrong by half a digit."""
    assert gap(printed, values=values)["published"]["recomputed"] == recomputed


def test_a_difference_of_cells_has_a_verdict_where_both_have_runs() -> None:
    cell = gap("4.5")
    assert (cell["value"], cell["difference"]) == (pytest.approx(5.0), pytest.approx(0.5))
    assert (cell["n"], cell["expected"], cell["verdict"]["verdict"]) == (2, 2, "reproduced")
    for lost in ((None, 75.0), (80.0, None)):
        cell = gap("4.5", runs=lost)
        assert (cell["value"], cell["n"], cell["expected"], cell["verdict"]) == (None, 1, 2, None)
    assert gap("")["verdict"] is None


@pytest.mark.parametrize("side", ["own", "parent"])
@pytest.mark.parametrize("why", ["cell", "row", "table"])
def test_a_difference_with_a_cell_that_is_not_comparable_is_not_tested(side: str, why: str) -> None:
    name = "words" if side == "own" else "topics"
    changes: dict[str, dict[str, Any]] = {
        "cell": {"not_comparable": {f"ours/{name}": "other split"}},
        "row": {"rows": [row(name, not_comparable="other split")]},
        "table": {"comparable": False},
    }
    verdict = gap("4.5", **{side: changes[why]})["verdict"]  # type: ignore[arg-type]
    assert (verdict["verdict"], verdict["p"]) == ("not comparable", None)


def test_a_printed_value_follows_up_to_its_slack() -> None:
    for value, slack, noted in ((3.0, 0.5, None), (3.0, 0.4999, 3.0), (4.0, 0.5, None), (4.0, 0.4999, 4.0)):
        printed: dict[str, Any] = {"value": 3.5}
        follow(printed, value, slack)
        assert printed.get("recomputed") == noted


def test_a_run_of_another_model_or_dataset_or_counted_twice_is_refused() -> None:
    for strange in (path("topics", 1), path("words", 1, "theirs")):
        with pytest.raises(RefusedError, match=f"ours/words: {strange} is a run of another model or dataset"):
            builder("words", records={"ours": {"words": [strange]}})
    with pytest.raises(RefusedError, match="ours/words: a run counts twice"):
        builder("words", records={"ours": {"words": [path("words", 1)] * 2}})


def whole(lines: tuple[str, ...], **scores: float) -> Any:
    """Return the cells of two rows and their mean: of two models, of the best of both, and of what is lost
    from the first to the second."""
    columns = [
        column("ours"), column("other"),
        {**column("best"), "model": None, "best_of": ["ours", "other"]},
        {**column("drop"), "model": None, "drop": {"start": "ours", "of": ["other", "best"]}},
    ]  # fmt: skip
    keys = {f"{model}_{name}": (model, name) for model in ("ours", "other") for name in ("a", "b")}
    records: dict[str, Any] = {"ours": {}, "other": {}}
    for model, name in keys.values():
        records[model][name] = [path(name, 1, model)]
    found = {path(name, 1, model): scores[key] for key, (model, name) in keys.items() if key in scores}
    groups = {"one": ["a"], "two": ["a", "b"]}
    rule = {"points": 3.0, "why": "made up"}
    made = builder(
        "a", lines, found, rows=[row("a"), row("b")], columns=columns, records=records,
        composites=[{"name": "mean", "label": "Mean", "groups": groups}],
        equivalence={"alpha": 0.05, "power": 0.8, "runs": {"a": 5, "b": 5},
                     "margins": dict.fromkeys(("a", "b", "mean"), rule)},
    )  # fmt: skip
    return made.cells


def test_columns_and_composites_are_computed_from_complete_cells() -> None:
    cells = whole((), ours_a=80.0, other_a=70.0, ours_b=60.0, other_b=65.0)
    values = {(key, name): cell["value"] for key, rows in cells.items() for name, cell in rows.items()}
    assert (values["best", "a"], values["best", "b"]) == (80.0, 65.0)
    assert (values["drop", "a"], values["drop", "b"]) == (-10.0, 5.0)
    assert (values["ours", "mean"], values["other", "mean"]) == (75.0, 68.75)
    assert (cells["drop"]["a"]["n"], cells["ours"]["mean"]["n"], cells["ours"]["mean"]["expected"]) == (
        3,
        2,
        2,
    )
    cells = whole((), ours_a=80.0, other_a=70.0, ours_b=60.0)
    for key, name, n, expected in (("best", "b", 1, 2), ("drop", "b", 1, 3), ("other", "mean", 1, 2)):
        cell = cells[key][name]
        assert (cell["value"], cell["n"], cell["expected"]) == (None, n, expected)
        assert cell["missing"] is not None and cells["ours"]["a"]["missing"] is None


@pytest.mark.parametrize(
    ("lines", "recomputed"),
    [(("ours,a,f1,80.0,", "ours,b,f1,60,", "ours,mean,score,76,"), None),
     (("ours,a,f1,80.0,", "ours,b,f1,60,", "ours,mean,score,76.1,"), 75.0),
     (("ours,a,f1,80.0,", "ours,mean,score,99,"), None), (("ours,a,f1,80.0,", "ours,b,f1,60,"), None)],
)  # fmt: skip
def test_a_printed_mean_that_does_not_follow_is_noted(
    lines: tuple[str, ...], recomputed: float | None
) -> None:
    """The widest half digit of its parts counts, and its own."""
    published = whole(lines, ours_a=80.0, ours_b=60.0)["ours"]["mean"]["published"]
    assert (published and published["recomputed"]) == recomputed
