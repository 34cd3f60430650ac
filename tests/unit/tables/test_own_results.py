"""Results of one's own models in words, against the highest published value of the row."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.recipes.tables import TableRecipe
from pubmill.tables.aggregation import finished_table
from pubmill.tables.verdicts import own_lines
from tests.unit import toy_tables as made_up

ROWS = [made_up.row("bc2gm", "BC2GM", "ner", "entity_f1")]
RUNS = {"ours": {"bc2gm": made_up.paths("ours", "bc2gm")}}


def lines(folder: Path, made: TableRecipe, *scores: float, published: float = 80.9) -> tuple[str, ...]:
    for seed, score in enumerate(scores, 1):
        made_up.write(folder, made_up.record("ours", "bc2gm", seed, score))
    values = folder / "table06.published.csv"
    other = "bert,gad,micro_f1,77.72,\n"  # of a row that is not asked for
    values.write_text(f"{made_up.HEADER}bert,bc2gm,entity_f1,{published},\n{other}")
    return own_lines(finished_table(made, values, folder), len(made.own))


def asked(**fields: object) -> TableRecipe:
    recipe = made_up.recipe(rows=ROWS, records=RUNS, composites=[], missing={}, comparable=True)
    return replace(recipe, own=("ours",), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(("scores", "published", "said"), [
    ((0.9, 0.902), 80.9, "90.10 ± 0.14 (2 of 2 seeds); highest published: 80.9 (BERT); difference +9.20"),
    ((0.9, 0.902), 80.9, "spread of our seeds for both): higher"), ((0.7, 0.702), 80.9, "lower"),
    ((0.8, 0.82), 80.9, "neither higher nor lower"),
    ((0.8, 0.8), 80.9, "difference -0.90, untested without a spread over seeds"),
    ((0.8,), 80.9, "no score (no mean: 1 of 2 seeds (no record: seed 2))"),
])  # fmt: skip
def test_a_score_stands_beside_the_highest_published_and_its_test(
    tmp_path: Path, scores: tuple[float, ...], published: float, said: str
) -> None:
    [line] = lines(tmp_path, asked(), *scores, published=published)
    assert line.startswith("Ours on BC2GM (entity F1): ") and said in line


def test_a_scale_that_is_not_comparable_is_not_tested(tmp_path: Path) -> None:
    made = asked(comparable=False, notes=("a note on the table",))
    [line] = lines(tmp_path, made, 0.9, 0.902)
    assert line.endswith(f"highest published: 80.9 (BERT), not compared: {made.scale_title}")
