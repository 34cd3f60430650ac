"""JNLPBA as distributed by the GENIA project, with types, and EBM-NLP as distributed by its authors."""

from dataclasses import dataclass

from tests.world.archives import tarball
from tests.world.dice import Dice
from tests.world.language import TYPED, Sentence, Token, choose_templates, mention, sentence
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, Lexicon, between
from tests.world.part import Files

_SHARES = {"train": (0.0, 0.4), "dev": (0.4, 0.65), "test": (0.65, 1.0)}
"""Shares of names that a split may use."""

_GENIA = "www.nactem.ac.uk/GENIA/current/Shared-tasks/JNLPBA"
_FIRST_OF_DEV = 91_075_236
"""The first dev document of the real corpus."""
_FIRST_DOCUMENT = {"train": 81_000_001, "dev": _FIRST_OF_DEV, "test": 83_000_001}
_SENTENCES = {"train": 220, "dev": 80, "test": 100}
_SENTENCES_PER_DOCUMENT = 6
_TYPES = {GENE: "protein", CHEMICAL: "DNA", DISEASE: "cell_type"}
_TYPES_BY_WORD = {"kinase": "RNA", "familial": "cell_line"}
"""Mentions with these words have another type than their kind suggests."""

_EBM = "raw.githubusercontent.com/bepnye/EBM-NLP/master/ebm_nlp_2_00.tar.gz"
_PMIDS = (
    "raw.githubusercontent.com/hieunguyen7337/KeBioLM/bc7c3667c786236252ba5b26b3b921197465b7a3/"
    "indexing/ebmnlp/{}_pmid.tsv"
)
_ABSTRACTS = {"train": 40, "dev": 15, "test": 20}
_FIRST_PMID = {"train": 71_000_001, "dev": 72_000_001, "test": 73_000_001}
_FOLDERS = {"train": "train", "dev": "train", "test": "test/gold"}
_LAYERS = ("participants", "interventions", "outcomes")
_TRIALS = [
    [("We randomized", ""), ("%N patients with %D", "p"), ("to", ""), ("%C", "i"), ("or", ""),
     ("placebo", "i"), (".", "")],
    [("%N children suffering from %D", "p"), ("received", ""), ("oral %C", "i"), (".", "")],
    [("In", ""), ("patients treated with", "p"), ("%C", "pi"), (",", ""), ("risk of %D", "o"),
     ("was lower .", "")],
    [("The primary outcome was", ""), ("relapse of %D", "o"), (".", "")],
    [("%C", "i"), ("lowered", ""), ("plasma levels of %G", "o"), ("more than", ""), ("placebo", "i"),
     (".", "")],
    [("Survival", "o"), ("was measured after %N months .", "")],
    [("Tolerance of", "o"), ("%C", "io"), ("was good in both groups .", "")],
    [("Results were analyzed by intention to treat .", "")],
]  # fmt: skip
"""Sentences of trials in pieces, each with its layers (participants, ...)."""
_UNENDED = [("Funded by a foundation", "")]
"""Endings of some abstracts, without a full stop."""


@dataclass(frozen=True)
class _Word:
    text: str
    layers: str


def _typed(tokens: Sentence) -> Sentence:
    """Return the sentence with JNLPBA's types."""
    typed: Sentence = []
    for place, token in enumerate(tokens):
        prefix, _, kind = token.label.partition("-")
        if kind not in _TYPES:
            typed.append(Token(token.text))
        elif prefix == "I":
            typed.append(Token(token.text, f"I-{typed[-1].label[2:]}"))
        else:
            end = place + 1
            while end < len(tokens) and tokens[end].label == f"I-{kind}":
                end += 1
            named = [_TYPES_BY_WORD[word.text] for word in tokens[place:end] if word.text in _TYPES_BY_WORD]
            typed.append(Token(token.text, f"B-{named[0] if named else _TYPES[kind]}"))
    return typed


def _genia(split: str, lexicon: Lexicon, seed: int) -> list[Sentence]:
    dice, names = Dice(seed), between(lexicon, *_SHARES[split])
    return [
        _typed(
            sentence(dice, names, choose_templates(dice, dice.pick(list(TYPED)), typed=0.5, ambiguous=0.4))
        )
        for _ in range(_SENTENCES[split])
    ]


def _iob2(split: str, sentences: list[Sentence]) -> str:
    written = []
    for number, tokens in enumerate(sentences):
        if number % _SENTENCES_PER_DOCUMENT == 0:
            document = _FIRST_DOCUMENT[split] + number // _SENTENCES_PER_DOCUMENT
            written.append(f"###MEDLINE:{document}\n\n")
        written.append("".join(f"{token.text}\t{token.label}\n" for token in tokens) + "\n")
    return "".join(written)


def _jnlpba(lexicon: Lexicon, seed: int) -> Files:
    splits = {split: _genia(split, lexicon, seed + number) for number, split in enumerate(_SENTENCES)}
    texts = {split: _iob2(split, sentences) for split, sentences in splits.items()}
    training = {"Genia4ERtask2.iob2": (texts["train"] + texts["dev"]).encode()}
    test = {"Genia4EReval2.iob2": texts["test"].encode()}
    return {
        f"{_GENIA}/Train/Genia4ERtraining.tar.gz": tarball({"README.txt": b"Invented.\n", **training}),
        f"{_GENIA}/Evaluation/Genia4ERtest.tar.gz": tarball(test),
    }


def _words(dice: Dice, names: Lexicon, pieces: list[tuple[str, str]]) -> list[_Word]:
    slots = {"%C": CHEMICAL, "%D": DISEASE, "%G": GENE}
    words = []
    for piece, layers in pieces:
        for part in piece.split():
            if part == "%N":
                filled = [str(dice.between(10, 400))]
            elif part in slots:
                filled = [token.text for token in mention(dice, dice.pick(names[slots[part]]))]
            else:
                filled = [part]
            words += [_Word(text, layers) for text in filled]
    return words


def _abstract(dice: Dice, names: Lexicon) -> list[_Word]:
    pieces = [piece for _ in range(dice.between(3, 6)) for piece in dice.pick(_TRIALS)]
    return _words(dice, names, [*pieces, *(_UNENDED if dice.chance(0.2) else [])])


def _tree(splits: dict[str, dict[int, list[_Word]]]) -> dict[str, bytes]:
    """Return the archive's files, including kinds that are not read."""
    files = {"README.txt": "Invented.\n"}
    for split, abstracts in splits.items():
        for pmid, words in abstracts.items():
            files[f"documents/{pmid}.tokens"] = "\n".join(word.text for word in words)
            files[f"documents/{pmid}.txt"] = " ".join(word.text for word in words)
            for layer in _LAYERS:
                flags = "\n".join(str(int(layer[0] in word.layers)) for word in words)
                for phase in ("starting_spans", "hierarchical_labels"):
                    folder = f"annotations/aggregated/{phase}/{layer}/{_FOLDERS[split]}"
                    files[f"{folder}/{pmid}.AGGREGATED.ann"] = flags
    return {f"ebm_nlp_2_00/{name}": text.encode() for name, text in files.items()}


def _ebm_pico(lexicon: Lexicon, seed: int) -> Files:
    splits: dict[str, dict[int, list[_Word]]] = {}
    for number, (split, size) in enumerate(_ABSTRACTS.items()):
        dice, names = Dice(seed + number), between(lexicon, *_SHARES[split])
        splits[split] = {_FIRST_PMID[split] + place: _abstract(dice, names) for place in range(size)}
    lists = {_PMIDS.format(split): ",".join(map(str, found)).encode() for split, found in splits.items()}
    return {_EBM: tarball(_tree(splits)), **lists}


def part(lexicon: Lexicon, seed: int) -> Files:
    return _jnlpba(lexicon, seed) | _ebm_pico(lexicon, seed + 10)
