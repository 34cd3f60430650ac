"""A made-up study for tests of manuscripts: one table of random scores, with comparisons."""

from dataclasses import dataclass
from statistics import fmean, stdev

from pubmill.extras.manuscript.study_tables import StudyTables
from pubmill.recipes.tables import Heading, ResultHeading, values_of
from pubmill.statistics.verdict_models import Verdict
from pubmill.tables.cells import Cell, Provenance, PublishedValue, SeedScore, Table
from pubmill.tables.comparisons import Comparisons, ModelPair, RowComparisons
from tests.unit import toy_tables
from tests.world.dice import Dice

NAME = "gu2020/table06"
MODELS = {
    "pubmedbert-base": "PubMedBERT uncased", "biobert-base": "BioBERT cased",
    "scibert-uncased": "SciBERT uncased",
    "scibert-cased": "SciBERT cased", "roberta-base": "RoBERTa base", "bio-lm-base": "Bio-LM base",
    "biom-electra-base": "BioM-ELECTRA base", "clinicalbert": "Clinical-BERT", "head-bilstm": "Bi-LSTM",
    "biomegatron-345m": "BioMegatron 345m, 50k",
}  # fmt: skip
DATASETS = {
    "bc2gm": "BC2GM", "bc5-chem": "BC5-chem", "bc5-disease": "BC5-disease", "ncbi-disease": "NCBI-disease",
    "jnlpba": "JNLPBA", "ebm-pico": "EBM PICO", "chemprot@blurb": "ChemProt", "hoc@blurb": "HoC",
    "species-800": "Species-800", "squad-v2": "SQuAD 2.0", "bc5cdr": "BC5CDR chemicals, F1",
}  # fmt: skip


@dataclass(frozen=True)
class MadeUp:
    """A study of one table. `tables`: as the checks read it."""

    tables: StudyTables

    @property
    def table(self) -> Table:
        return self.tables.tables[NAME]

    @property
    def rows(self) -> dict[str, str]:
        """Key -> label."""
        return {row.key: row.label for row in self.table.rows}

    @property
    def columns(self) -> dict[str, str]:
        """Key -> label."""
        return {column.key: column.label for column in self.table.columns}

    def value(self, row: str, column: str) -> float:
        value = self.table.cells[column][row].value
        assert value is not None
        return value

    def filled_in(self, row: str) -> list[str]:
        """Return the columns with a value in a row."""
        return [column for column in self.columns if self.table.cells[column][row].value is not None]

    def filled(self) -> list[tuple[str, str]]:
        """Return the row and column of each cell with a value."""
        return [(row, column) for row in self.rows for column in self.filled_in(row)]

    def published_and_filled(self) -> list[tuple[str, str]]:
        """Return those that have a published value, too."""
        return [pair for pair in self.filled() if self.table.cells[pair[1]][pair[0]].published]

    def best(self, row: str, decimals: int) -> set[str]:
        """Return the columns that print the highest value of a row."""
        row_of = next(one for one in self.table.rows if one.key == row)
        return self.table.best_columns(row_of, list(self.columns), decimals)

    def tested(self) -> list[tuple[str, str, str, float]]:
        """Return row, best column, other column and adjusted p value of each test."""
        compared = self.tables.compared[NAME].rows
        return [
            (one.row, one.best, pair.other, pair.bootstrap_adjusted) for one in compared for pair in one.pairs
        ]


def made_up_study(dice: Dice) -> MadeUp:
    """Return a study with random scores of some models on some datasets."""
    models = {key: MODELS[key] for key in dice.sample(list(MODELS), dice.between(3, 6))}
    datasets = {key: DATASETS[key] for key in dice.sample(list(DATASETS), dice.between(3, 6))}
    recipe = toy_tables.recipe(
        columns=[toy_tables.column(key, label) for key, label in models.items()],
        rows=[toy_tables.row(key, label, "ner", "entity_f1") for key, label in datasets.items()],
        composites=[], records={}, missing={},
    )  # fmt: skip
    centres = {key: dice.between(5800, 9400) / 100 for key in datasets}
    cells = {
        column: {row: _cell(dice, centres[row], whole=number < 2) for row in datasets}
        for number, column in enumerate(models)
    }
    table = Table(
        **values_of(ResultHeading, recipe), composites=(), cells=cells, silences=(), seeds_needed={},
        provenance=Provenance(),
    )  # fmt: skip
    study = StudyTables("made-up", table.scale, {NAME: table}, {NAME: _comparisons(dice, table)})
    return MadeUp(study)


def _cell(dice: Dice, centre: float, whole: bool) -> Cell:
    """Return a cell with three runs, or one that was not run; `whole`: with runs and a published value."""
    published = None
    if whole or dice.chance(0.6):
        value = round(centre + dice.between(-400, 400) / 100, 2)
        published = PublishedValue(value=value, printed=f"{value:.2f}", note="")
    if not whole and dice.chance(0.1):
        return Cell(
            value=None, spread=None, n=0, expected=3, seeds=(), missing="not run in this study",
            published=published, difference=None,
        )  # fmt: skip
    middle = centre + dice.between(-4_000_000, 4_000_000) / 1_000_000
    scores = [middle + dice.between(-500_000, 500_000) / 1_000_000 for _ in range(3)]
    value = fmean(scores)
    return Cell(
        value=value,
        spread=stdev(scores),
        n=3,
        expected=3,
        seeds=tuple(
            SeedScore(seed=seed, value=score, failed=None, record=f"runs/x/seed-{seed}.json")
            for seed, score in enumerate(scores, 1)
        ),
        missing=None,
        published=published,
        difference=value - published.value if published else None,
        verdict=Verdict(verdict="reproduced", why="made up") if published else None,
    )


def _comparisons(dice: Dice, table: Table) -> Comparisons:
    """Return tests of the best column of each row against each other one, with random p values."""
    found = []
    for row in table.rows:
        values = {
            column.key: value
            for column in table.columns
            if (value := table.cells[column.key][row.key].value) is not None
        }
        best, *others = sorted(values, key=lambda key: -values[key])
        pairs = tuple(_pair(dice, other, values[best] - values[other]) for other in others)
        found.append(RowComparisons(row=row.key, unit="document", units=100, best=best, pairs=pairs))
    return Comparisons(
        **values_of(Heading, table),
        aggregate=table.aggregate,
        resamplings=1000,
        confidence=0.95,
        row_labels={row.key: row.label for row in table.rows},
        metrics={row.key: row.metric for row in table.rows},
        column_labels={column.key: column.label for column in table.columns},
        rows=tuple(found),
    )


def _pair(dice: Dice, other: str, difference: float) -> ModelPair:
    p = dice.pick([0.001, 0.02, 0.06, 0.4])
    return ModelPair(
        other=other, difference=difference, bootstrap_p=p / 2, bootstrap_adjusted=p, randomisation_p=p / 2,
        randomisation_adjusted=p, interval=(difference - 1, difference + 1),
    )  # fmt: skip
