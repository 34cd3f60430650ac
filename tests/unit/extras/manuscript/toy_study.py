"""A small study for tests of the checks: three models on three datasets."""

from dataclasses import replace
from pathlib import Path

from pubmill.extras.manuscript.latex_source import ManuscriptFault
from pubmill.extras.manuscript.manuscript_check import check_manuscript
from pubmill.extras.manuscript.study_tables import StudyTables
from pubmill.tables.comparisons import ModelPair, RowComparisons
from tests.unit import toy_tables
from tests.unit.toy_tables import column, row

NAME = "gu2020/table06"
BEST, UNCASED, CASED = "pubmedbert-base", "bert-base-uncased", "bert-base-cased"
SCORES = {
    BEST: {"bc2gm": (0.8449, 0.84545), "jnlpba": (0.79, 0.79), "chemprot@blurb": (0.9,)},
    UNCASED: {"bc2gm": (0.80, 0.82), "jnlpba": (0.788, 0.786), "chemprot@blurb": (0.5,)},
    CASED: {"bc2gm": (0.79, 0.80), "jnlpba": (0.71, 0.73), "chemprot@blurb": ()},
}
"""Model -> dataset -> score of each seed. Means: 84.5175, 81 and 79.5 on BC2GM; 79, 78.7 and 72 on JNLPBA."""
PUBLISHED = f"column,row,metric,value,note\n{BEST},bc2gm,entity_f1,84.52,\n{UNCASED},bc2gm,entity_f1,83.10,\n"
P = {("bc2gm", UNCASED): 0.001, ("bc2gm", CASED): 0.001, ("jnlpba", UNCASED): 0.4, ("jnlpba", CASED): 0.01}
"""Row, other column -> adjusted p value of the test against PubMedBERT."""


def study(folder: Path) -> StudyTables:
    """Return the study, made from records below a folder."""
    for model, of_model in SCORES.items():
        for dataset, scores in of_model.items():
            for seed, score in enumerate(scores, 1):
                toy_tables.write(folder, toy_tables.record(model, dataset, seed, score))
    recipe = toy_tables.recipe(
        rows=[
            row("bc2gm", "BC2GM", "ner", "entity_f1"),
            row("jnlpba", "JNLPBA", "ner", "entity_f1"),
            row("chemprot@blurb", "ChemProt", "re", "entity_f1"),
        ],
        columns=[
            column(BEST, "PubMedBERT uncased"), column(UNCASED, "BERT uncased"), column(CASED, "BERT cased")
        ],
        composites=[],
        records={model: _paths(model) for model in SCORES},
        missing={f"{CASED}/chemprot@blurb": "the study leaves it out"},
        equivalence={
            "alpha": 0.05, "power": 0.8, "runs": dict.fromkeys(SCORES[BEST], 5),
            "margins": {name: {"points": 1, "why": "made up"} for name in SCORES[BEST]},
        },
    )  # fmt: skip
    table = toy_tables.table(folder, recipe, PUBLISHED)
    compared = toy_tables.compared(table)
    rows = tuple(
        RowComparisons(
            row=name, unit="document", units=100, best=BEST,
            pairs=tuple(_pair(other, p) for (of, other), p in P.items() if of == name),
        )
        for name in ("bc2gm", "jnlpba")
    )  # fmt: skip
    return StudyTables("toy", "small", {NAME: table}, {NAME: replace(compared, rows=rows)})


def _paths(model: str) -> dict[str, list[str]]:
    found = SCORES[model].items()
    return {name: toy_tables.paths(model, name, len(scores)) for name, scores in found if scores}


def _pair(other: str, p: float) -> ModelPair:
    return ModelPair(
        other=other, difference=1.0, bootstrap_p=p, bootstrap_adjusted=p, randomisation_p=p,
        randomisation_adjusted=p, interval=None,
    )  # fmt: skip


def relabelled(found: StudyTables, key: str, label: str) -> StudyTables:
    """Return a study in which a column has another label."""
    table = found.tables[NAME]
    columns = tuple(replace(one, label=label) if one.key == key else one for one in table.columns)
    return found._replace(tables={NAME: replace(table, columns=columns)})


def findings(folder: Path, text: str, label: str = "BERT cased") -> list[ManuscriptFault]:
    """Return the findings in a manuscript with this text; `label`: that of the cased BERT."""
    paper = folder / "paper"
    paper.mkdir(exist_ok=True)
    (paper / "paper.tex").write_text(text)
    return check_manuscript(paper / "paper.tex", relabelled(study(folder), CASED, label)).findings


def kinds(folder: Path, text: str) -> list[str]:
    return [one.kind for one in findings(folder, text)]
