"""The five entity datasets, at their pinned URLs and in their original formats."""

from dataclasses import dataclass

from tests.world.dice import Dice
from tests.world.language import OUTSIDE, TYPED, Sentence, choose_templates, sentence
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, Lexicon, between
from tests.world.part import Files

_MTL = (
    "raw.githubusercontent.com/cambridgeltl/MTL-Bioinformatics-2016/"
    "df0df02fae6dbb87d88ffcf323b9096528f06f84/data"
)
_KEBIOLM = "raw.githubusercontent.com/hieunguyen7337/KeBioLM/bc7c3667c786236252ba5b26b3b921197465b7a3/data"
_MTL_FILES = {"train": "train.tsv", "dev": "devel.tsv", "test": "test.tsv"}
_SHARES = {"train": (0.0, 0.25), "dev": (0.25, 0.6), "test": (0.6, 1.0)}
"""Shares of names that a split may use: most entities of dev and test do not occur in train."""
_SILENT = 0.3
"""Share of sentences without a mention of the labelled kind that are kept."""
_KNOWN = 0.15
"""Share of dev and test sentences with names from train."""


@dataclass(frozen=True)
class Dataset:
    """A dataset: its folder, the labelled kind, and the label's name (None: plain B and I)."""

    folder: str
    files: dict[str, str]
    kind: str
    label: str | None
    sentences: dict[str, int]


DATASETS = [
    Dataset(f"{_MTL}/BC5CDR-chem-IOB", _MTL_FILES, CHEMICAL, "Chemical",
            {"train": 200, "dev": 80, "test": 100}),
    Dataset(f"{_MTL}/BC5CDR-disease-IOB", _MTL_FILES, DISEASE, "Disease",
            {"train": 210, "dev": 81, "test": 101}),
    Dataset(f"{_MTL}/NCBI-disease-IOB", _MTL_FILES, DISEASE, "Disease",
            {"train": 220, "dev": 82, "test": 102}),
    Dataset(f"{_MTL}/BC2GM-IOB", _MTL_FILES, GENE, "GENE", {"train": 230, "dev": 83, "test": 103}),
    Dataset(f"{_KEBIOLM}/JNLPBA", {s: f"{s}.tsv" for s in _SHARES}, GENE, None,
            {"train": 240, "dev": 84, "test": 104}),
]  # fmt: skip
_SENTENCES_PER_DOCUMENT = 6
_FIRST_DOCUMENT = {"train": 95_000_001, "dev": 96_000_001, "test": 97_000_001}
"""Mark of a document's beginning in JNLPBA's files."""


def _write(tokens: Sentence, dataset: Dataset) -> str:
    lines = []
    for token in tokens:
        place, _, kind = token.label.partition("-")
        if kind != dataset.kind:
            place = OUTSIDE
        labelled = dataset.label and place != OUTSIDE
        lines.append(f"{token.text}\t{place}-{dataset.label}\n" if labelled else f"{token.text}\t{place}\n")
    return "".join(lines) + "\n"


def _sentence(dice: Dice, dataset: Dataset, known: Lexicon, own: Lexicon) -> Sentence:
    while True:
        names = known if dice.chance(_KNOWN) else own
        templates = choose_templates(dice, dice.pick(list(TYPED)), typed=0.4, ambiguous=0.5)
        tokens = sentence(dice, names, templates)
        if any(token.label == f"B-{dataset.kind}" for token in tokens) or dice.chance(_SILENT):
            return tokens


def _file(dataset: Dataset, split: str, lexicon: Lexicon, seed: int) -> str:
    dice = Dice(seed)
    known, own = between(lexicon, *_SHARES["train"]), between(lexicon, *_SHARES[split])
    document = _FIRST_DOCUMENT[split]
    written = []
    for number in range(dataset.sentences[split]):
        if dataset.label is None and number % _SENTENCES_PER_DOCUMENT == 0:
            written.append(f"-DOCSTART- {document}\n\n")
            document += 1
        written.append(_write(_sentence(dice, dataset, known, own), dataset))
    return "".join(written)


def part(lexicon: Lexicon, seed: int) -> Files:
    return {
        f"{dataset.folder}/{dataset.files[split]}": _file(
            dataset, split, lexicon, seed + 10 * place + number
        ).encode()
        for place, dataset in enumerate(DATASETS)
        for number, split in enumerate(_SHARES)
    }
