"""Made-up manuscripts with a study's numbers: a planted fault is found, and a right manuscript has none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pubmill.extras.manuscript.cell_macros import MACROS_FILE, macros_text
from pubmill.extras.manuscript.manuscript_check import check_manuscript
from pubmill.extras.manuscript.study_tables import StudyTables
from pubmill.report.table_rendering import latex_table
from tests.attack import Attack
from tests.unit.extras.manuscript.made_up_study import NAME, MadeUp, made_up_study
from tests.world.dice import Dice


class Passage(NamedTuple):
    """A passage of a manuscript. `wrong`: the same with a fault, by kind of fault."""

    right: str
    wrong: dict[str, str]


@dataclass
class Writer:
    """A source of passages about a study's table."""

    dice: Dice
    study: MadeUp
    notes: list[str] = field(default_factory=list)

    def pair(self) -> tuple[str, str]:
        """Return a row and a column whose cell has a value."""
        return self.dice.pick(self.study.filled())

    def name(self, column: str) -> str:
        """Return a column's label, sometimes with type or a citation."""
        label = self.study.columns[column]
        return self.dice.pick([label, label, rf"\textsc{{{label}}}", rf"{label}~\cite{{some2020}}"])

    def text(self, value: float, decimals: int | None = None) -> str:
        return f"{value:.{self.dice.pick([1, 2, 2]) if decimals is None else decimals}f}"

    def stale(self, value: float, decimals: int = 2) -> str:
        """Return a number that a table had before other runs were made."""
        shift = (self.dice.between(20, 600) / 100) * self.dice.pick([1, -1])
        moved = value + shift if 10 < value + shift < 99 else value - shift
        return f"{moved:.{decimals}f}"

    def misrounded(self, value: float) -> str:
        """Return a number that was rounded to the other side, with one or two decimals."""
        decimals = self.dice.pick([1, 2])
        right = round(value, decimals)
        other = right + 10.0**-decimals * (1 if value > right else -1)
        return f"{other:.{decimals}f}"

    def numbers_of(self, row: str) -> set[str]:
        """Return the values of a row as they are printed with one and two decimals."""
        cells = [rows[row] for rows in self.study.table.cells.values() if row in rows]
        known = [cell.value for cell in cells if cell.value is not None]
        known += [cell.published.value for cell in cells if cell.published]
        return {f"{value:.{decimals}f}" for value in known for decimals in (1, 2)}

    def score(self) -> Passage:
        """A sentence with the value of a cell."""
        row, column = self.pair()
        value, label = self.study.value(row, column), self.study.rows[row]
        others = [one for one in self.study.rows if one != row and (one, column) in self.study.filled()]
        form = self.dice.pick(
            [
                "{model} reaches {number} on {label}.",
                "On {label}, {model} has an F1 score of {number}\\,\\%.",
                "The score of {model} on {label} is ${number}$ (Table~\\ref{{tab:main}}).",
                "{label} is hard: even {model} stays at\n{number} after 12.5 hours on 1.5 million words.",
                "We trained {model} with a learning rate of 0.05 and a dropout of 0.1 on 30.5\\,GB; it "
                "scores {number} on {label} (see Section 4.2 and Table 12.1).",
                "{model} ({number} on {label}) used 25.5\\,\\% of the budget.",
                "For {label}, we obtained {number} with {model}; it took 17.5 days at a rate of 3.2e-5.",
            ]
        )
        say = lambda number: form.format(model=self.name(column), label=label, number=number)  # noqa: E731
        planted = {"stale": self.stale(value), "rounding": self.misrounded(value)}
        right = self.numbers_of(row)  # another model's name may begin as this one's does
        wrong = {fault: say(number) for fault, number in planted.items() if number not in right}
        if others:
            other = self.study.value(self.dice.pick(others), column)
            if abs(other - value) > 0.2:
                wrong["swapped"] = say(f"{other:.2f}")
        return Passage(say(self.text(value)), wrong)

    def two_scores(self) -> Passage:
        """A sentence that compares two values and states their difference."""
        row = self.dice.pick([row for row in self.study.rows if len(self.study.filled_in(row)) > 1])
        one, two = self.dice.sample(self.study.filled_in(row), 2)
        a, b = self.study.value(row, one), self.study.value(row, two)
        names = self.name(one), self.study.columns[two]
        form = self.dice.pick(
            [
                "{x} has {a} on {label}, {gap} points {way} {y} with {b}.",
                "With {a} and {b}, {x} and {y} differ by {gap} percentage points on {label}.",
                "On {label}, {y} has {b}; {x} is {gap}~points {way} it, at {a}.",
            ]
        )

        def say(a: str, b: str, gap: str) -> str:
            way = "above" if self.study.value(row, one) > self.study.value(row, two) else "below"
            return form.format(x=names[0], y=names[1], a=a, b=b, gap=gap, way=way, label=self.study.rows[row])

        texts = self.text(a), self.text(b), f"{abs(a - b):.2f}"
        return Passage(
            say(*texts),
            {
                "stale": say(texts[0], self.stale(b), texts[2]),
                "difference": say(texts[0], texts[1], f"{abs(a - b) + self.dice.between(15, 300) / 100:.2f}"),
            },
        )

    def published(self) -> Passage:
        """A sentence about a published value and the difference to it."""
        row, column = self.dice.pick(self.study.published_and_filled())
        cell = self.study.table.cells[column][row]
        assert cell.published and cell.value is not None and cell.difference is not None
        say = "{x} was published with {p} on {label}, where ours has {v} ({gap} points apart)."
        known = {"x": self.name(column), "label": self.study.rows[row], "gap": f"{abs(cell.difference):.2f}"}
        right = say.format(p=cell.published.printed, v=self.text(cell.value), **known)
        return Passage(
            right, {"stale": say.format(p=self.stale(cell.published.value), v=self.text(cell.value), **known)}
        )

    def macro(self) -> Passage:
        """A sentence with macros."""
        row, column = self.pair()
        key = f"{{{NAME}}}{{{row}}}{{{column}}}"
        wrong = self.dice.pick([f"{{{NAME}}}{{{row}x}}{{{column}}}", f"{{{NAME}}}{{{row}}}{{{column}-2}}"])
        say = r"Our score is \cell{} $\pm$ \cellspread{} (\cellverdict{})."
        verdict = self.study.table.cells[column][row].verdict is not None
        form = say if verdict else r"Our score is \cell{} $\pm$ \cellspread{}."
        return Passage(form.replace("{}", key), {"unknown": form.replace("{}", wrong)})

    def annotated(self) -> Passage:
        """A line whose numbers are named in a comment."""
        row, column = self.pair()
        cell = self.study.table.cells[column][row]
        value, spread = self.study.value(row, column), cell.spread or 0.0
        key = f"{{{NAME}}}{{{row}}}{{{column}}}"
        comment = rf" % \cell{key} \cellspread{key}"

        def say(value: str, spread: str) -> str:
            return f"The first of 3 systems has {value} with a deviation of {spread}{comment}"

        texts = self.text(value), self.text(spread, 2)
        return Passage(
            say(*texts),
            {
                "stale": say(self.stale(value), texts[1]),
                "rounding": say(self.misrounded(value), texts[1]),
                "spread": say(texts[0], self.text(spread + 0.4, 2)),
            },
        )

    def claim(self) -> Passage:
        """A sentence about which of two models is better: supported, denied, or silent; wrong if no test
        shows it."""
        row, best, other, p = self.dice.pick(self.study.tested())
        x, y, label = self.name(best), self.study.columns[other], self.study.rows[row]
        strong = self.dice.pick(
            [
                "{x} outperforms {y} on {label}.",
                "{x} is significantly better than {y} on {label}.",
                "On {label}, {y} is outperformed by {x}.",
                "Compared with {y}, {x} improves significantly on {label}.",
                "The gain of {x} over {y} on {label} is statistically significant.",
                "{x} surpasses {y} on {label}, although it was trained on less text.",
                "{y} performs worse than {x} on {label}.",
                "{x} beats {y} on {label}.",
            ]
        )
        weak = self.dice.pick(
            [
                "{x} does not significantly outperform {y} on {label}.",
                "The scores of {x} and {y} on {label} are close.",
                "{x} is significantly faster than {y} on {label}.",
                "We asked whether {x} outperforms {y} on {label}.",
                "No significant difference between {x} and {y} was found on {label}.",
            ]
        )
        best_says = strong.format(x=x, y=y, label=label)
        reversed_says = strong.format(x=self.study.columns[other], y=self.study.columns[best], label=label)
        weak_says = weak.format(x=x, y=y, label=label)
        if p < 0.05:
            right = self.dice.pick([best_says, best_says, weak_says])
            return Passage(right, {"reversed claim": reversed_says})
        return Passage(weak_says, {"claim": best_says, "reversed claim": reversed_says})

    def leader(self) -> Passage:
        """A sentence with "state-of-the-art"."""
        row, best, _, _ = self.dice.pick(self.study.tested())
        form = "{} is a competitive model on {}."
        claim = self.dice.pick(
            ["{} sets a new state of the art on {}.", "With {}, we reach state-of-the-art on {}."]
        )
        others = [one for one in self.study.filled_in(row) if one != best]
        texts = self.study.columns[self.dice.pick(others)], self.study.rows[row]
        return Passage(form.format(*texts), {"claim": claim.format(*texts)})

    def filler(self) -> Passage:
        """Text without any number of a table."""
        return Passage(
            self.dice.pick(
                [
                    "Training took 12.5 hours on 8 GPUs, with 3.5 billion words in 45.2\\,GB.",
                    "Related work \\citep{lee2019} reports 84.72 for BioBERT on BC2GM and 93.47 elsewhere.",
                    "The temperature was 36.6 degrees. Results are significant at $p < 0.05$.",
                    "\\begin{equation} x = 84.52 \\end{equation} BC2GM has 12{,}500 sentences.",
                    "\\begin{verbatim}\nPubMedBERT 12.34 on BC2GM\n\\end{verbatim}",
                    "% PubMedBERT has 12.34 on BC2GM, an old draft",
                    "\\begin{itemize}\n\\item Python 3.11, PyTorch 2.13\n\\item 10.5 days\n\\end{itemize}",
                    "Version 2.10 of the tool was used; 33.3\\% of the documents were dropped from BC2GM.",
                ]
            ),
            {},
        )

    def exported(self) -> Passage:
        """The tabular that `pubmill tex` writes."""
        text = latex_table(self.study.table)
        assert text
        return self._changed(text.rstrip("\n"))

    def transposed(self) -> Passage:
        """A tabular of one's own with models as rows, spreads and one or two decimals."""
        decimals = self.dice.pick([1, 2])
        rows = list(self.study.rows)
        lines = [
            f"% pubmill: table {NAME}",
            r"\begin{tabular}{l" + "c" * len(rows) + "}",
            r"\toprule",
            " & ".join(["Model", *self.study.rows.values()]) + r" \\ % pubmill: rows " + " ".join(rows),
            r"\midrule",
        ]
        best = {row: self.study.best(row, decimals) for row in rows}
        for column, label in self.study.columns.items():
            texts = [self._entry(row, column, best[row], decimals) for row in rows]
            lines.append(" & ".join([label, *texts]) + rf" \\ % pubmill: column {column}")
        return self._changed("\n".join([*lines, r"\bottomrule", r"\end{tabular}"]))

    def _entry(self, row: str, column: str, best: set[str], decimals: int) -> str:
        cell = self.study.table.cells[column][row]
        if cell.value is None:
            return self.dice.pick(["---", "--", "n/a"])
        text = f"{cell.value:.{decimals}f}"
        text = rf"\textbf{{{text}}}" if column in best else text
        return rf"{text} {{\small $\pm$ {cell.spread:.{decimals}f}}}" if cell.spread is not None else text

    def _single_bests(self, text: str) -> list[str]:
        """Return the bold numbers of rows in which no other number is as high, as the tabular prints them."""
        found = []
        for decimals in (1, 2):
            for row in self.study.rows:
                best = self.study.best(row, decimals)
                if len(best) == 1:
                    found.append(rf"\textbf{{{self.study.value(row, *best):.{decimals}f}}}")
        return [shown for shown in found if shown in text]

    def _changed(self, text: str) -> Passage:
        """Return a tabular with faults: a stale or misrounded number, bold type removed or moved."""
        row, column = self.pair()
        value = self.study.value(row, column)
        wrong = {}
        for decimals in (2, 1):
            shown = f"{value:.{decimals}f}"
            if text.count(shown) == 1:
                wrong["stale"] = text.replace(shown, self.stale(value, decimals))
                moved = float(shown) + 10.0**-decimals * (1 if value > float(shown) else -1)
                wrong["rounding"] = text.replace(shown, f"{moved:.{decimals}f}")
                break
        bold = [shown for shown in self._single_bests(text) if text.count(shown) == 1]
        if bold and text.count(r"\textbf{") > 1:
            shown = self.dice.pick(bold)
            wrong["bold"] = text.replace(shown, shown.removeprefix(r"\textbf"))
        return Passage(text, wrong)


KINDS: Sequence[Callable[[Writer], Passage]] = (
    Writer.score, Writer.score, Writer.two_scores, Writer.published, Writer.macro, Writer.annotated,
    Writer.claim, Writer.claim, Writer.leader, Writer.exported, Writer.transposed,
)  # fmt: skip


def write(folder: Path, passages: Sequence[str], study: StudyTables) -> None:
    """Write a manuscript of two files, and the macros."""
    (folder / MACROS_FILE).write_text(macros_text(study.study, study.scale, study.tables))
    half = len(passages) // 2
    (folder / "results.tex").write_text("\n\n".join(passages[half:]) + "\n")
    (folder / "paper.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\input{cells}\n\\begin{document}\n"
        + "\n\n".join(passages[:half])
        + "\n\n\\input{results}\n\\end{document}\nPubMedBERT has 11.11 on BC2GM.\n"
    )


def _passages(dice: Dice) -> tuple[MadeUp, list[Passage]]:
    study = made_up_study(dice)
    writer = Writer(dice, study)
    passages = [dice.pick(KINDS)(writer) for _ in range(12)]
    return study, [*passages, *(writer.filler() for _ in range(4))]


def _untouched(dice: Dice, folder: Path) -> str:
    study, passages = _passages(dice)
    order = dice.sample(passages, len(passages))
    write(folder, [one.right for one in order], study.tables)
    found = check_manuscript(folder / "paper.tex", study.tables).findings
    return f"false alarm: {found[0]}" if found else ""


def _planted(dice: Dice, folder: Path) -> str:
    """Plant one fault; it must be found within its passage, and nothing elsewhere."""
    study, passages = _passages(dice)
    order = dice.sample(passages, len(passages))
    place = dice.pick([number for number, one in enumerate(order) if one.wrong])
    kind = dice.pick(sorted(order[place].wrong))
    texts = [one.right for one in order]
    texts[place] = order[place].wrong[kind]
    write(folder, texts, study.tables)
    found = check_manuscript(folder / "paper.tex", study.tables).findings
    file = folder / ("paper.tex" if place < len(texts) // 2 else "results.tex")
    before = file.read_text().partition(texts[place])[0].count("\n") + 1
    lines = range(before, before + texts[place].count("\n") + 1)
    if not any(one.file == str(file) and one.line in lines for one in found):
        return f"{kind} not found: {texts[place][:300]!r}"
    beside = [one for one in found if one.file != str(file) or one.line not in lines]
    return f"false alarm: {beside[0]}" if beside else ""


ATTACKS = (
    Attack(
        name="manuscript-planted",
        fault="a manuscript with a stale, swapped or wrongly rounded number, wrong bold, an unknown key or an"
        " unsupported claim",
        survived="it is found at its place, and nothing else is",
        case=_planted,
        cases=1_000,
    ),
    Attack(
        name="manuscript-untouched",
        fault="a manuscript in which every number and claim is the tables'",
        survived="nothing is found",
        case=_untouched,
        cases=1_000,
    ),
)
