"""Gene-disease relations (GAD, EU-ADR), BIOSSES, Hallmarks of Cancer and PubMedQA, in their original forms.

Labels depend on words: the verb between gene and disease, the number of words that two sentences share, the
process that a sentence names, the outcome of a study.
"""

import json
from collections.abc import Sequence
from random import Random

from tests.world.archives import tarball
from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, ORGANISM, TECHNIQUE, TISSUE, Lexicon
from tests.world.part import Files

_RAW = "raw.githubusercontent.com"
_FOLDS = f"{_RAW}/BioMedBERT/biomedbert/93fd69d6fb59e5c04b5a1ac7668117643c4a8583/datasets/RE"
_BLURB = f"{_RAW}/hieunguyen7337/KeBioLM/bc7c3667c786236252ba5b26b3b921197465b7a3"
_RATINGS = (
    f"{_RAW}/bigscience-workshop/biomedical/913327733b08c9a30ed8d691e15988573e04f0e8/"
    "bigbio/hub/hub_repos/biosses/annotation_pairs_scores.tsv"
)
_HOC_COMMIT = "3bc6e6deb90cf5bc4f9988c493fe2c32e9b3cf2a"
_HOC = f"github.com/sb895/Hallmarks-of-Cancer/archive/{_HOC_COMMIT}.tar.gz"
_PUBMEDQA = f"{_RAW}/pubmedqa/pubmedqa/1cbae8e92f72f20c8d3747cbb3bf5bc53554d997/data"


def part(lexicon: Lexicon, seed: int) -> Files:
    files: Files = {}
    for number, make in enumerate((_gad, _eu_adr, _biosses, _hoc, _pubmedqa)):
        files |= make(lexicon, Dice(seed + number))
    return files


def _name(dice: Dice, lexicon: Lexicon, kind: str) -> str:
    return dice.pick(lexicon[kind]).name


# Gene-disease relations: ten folds of one pool, with a header in the tests only.

_RELATED = ["is associated with", "raises the risk of", "mutations cause", "predisposes carriers to"]
_UNRELATED = ["was measured in patients without", "did not differ in", "is not linked to", "was normal in"]
_OPENINGS = [
    "We found that", "In this cohort ,", "Our results show that", "Among %O ,", "By %M ,", "After %C ,",
]  # fmt: skip
_SLOTS = {"%O": ORGANISM, "%M": TECHNIQUE, "%C": CHEMICAL}


def _relation(dice: Dice, lexicon: Lexicon, label: str) -> str:
    opening = dice.pick(_OPENINGS)
    for slot, kind in _SLOTS.items():
        opening = opening.replace(slot, _name(dice, lexicon, kind))
    verb = dice.pick(_RELATED if label == "1" else _UNRELATED)
    return f"{opening} @GENE$ {verb} @DISEASE$ in the {_name(dice, lexicon, TISSUE)}."


def _pool(dice: Dice, lexicon: Lexicon, rows: int, positive: float) -> list[tuple[str, str]]:
    pool: dict[str, str] = {}
    while len(pool) < rows:
        label = "1" if dice.chance(positive) else "0"
        pool[_relation(dice, lexicon, label)] = label
    return list(pool.items())


def _folds(folder: str, pool: list[tuple[str, str]]) -> Files:
    files = {}
    for fold in range(10):
        lines = [f"{i}\t{text}\t{label}\n" for i, (text, label) in enumerate(pool[fold::10])]
        train = [f"{text}\t{label}\n" for i, (text, label) in enumerate(pool) if i % 10 != fold]
        files[f"{_FOLDS}/{folder}/{fold + 1}/train.tsv"] = "".join(train).encode()
        test = "index\tsentence\tlabel\n" + "".join(lines)
        files[f"{_FOLDS}/{folder}/{fold + 1}/test.tsv"] = test.encode()
    return files


def _gad(lexicon: Lexicon, dice: Dice) -> Files:
    return _folds("GAD", _pool(dice, lexicon, 254, positive=0.53))


def _eu_adr(lexicon: Lexicon, dice: Dice) -> Files:
    return _folds("euadr", _pool(dice, lexicon, 105, positive=0.7))


# BIOSSES: the original ratings, and the lists of BLUE with their own white space.

_BIOSSES = {"train": 48, "dev": 12, "test": 16}
_FIRST_WORDS = ["Meanwhile", "Besides", "In part", "Similarly", "Likewise"]
"""Beginnings of the second sentence in pairs of similarity 0 to 4."""


def _pair(dice: Dice, lexicon: Lexicon, similarity: int) -> tuple[str, str]:
    names = [_name(dice, lexicon, kind) for kind in (GENE, TISSUE, DISEASE, ORGANISM)]
    others = [_name(dice, lexicon, kind) for kind in (GENE, TISSUE, DISEASE, ORGANISM)]
    second = names[:similarity] + others[similarity:]
    return (
        "{} is expressed in the {} and drives {} in {}.".format(*names),
        "{}, {} is found in the {} and leads to {} in {}.".format(_FIRST_WORDS[similarity], *second),
    )


def _rate(dice: Dice, similarity: int) -> list[int]:
    """Return the ratings of five annotators, some of which differ by one."""
    offsets = [dice.pick([0, 0, 0, 0, 1, -1]) for _ in range(5)]
    return [min(4, max(0, similarity + offset)) for offset in offsets]


def _biosses(lexicon: Lexicon, dice: Dice) -> Files:
    total = sum(_BIOSSES.values())
    original = ["sentence_id\tsentence_1\tsentence_2\t" + "\t".join(f"annotator_{x}" for x in "abcde")]
    listed: list[str] = []
    for number in range(1, total + 1):
        first, second = _pair(dice, lexicon, number % 5)
        ratings = _rate(dice, number % 5)
        original.append(
            "\t".join([str(number), first.replace(" and ", "  and "), second + " ", *map(str, ratings)])
        )
        published = first.replace(" and ", " \xa0and ")
        listed.append(f"{number}\t{published}\t{second}\t{sum(ratings) / 5}")
    order = dice.sample(listed, total)
    files = {_RATINGS: "\n".join(original) + "\n"}
    for split, size in _BIOSSES.items():
        rows, order = order[:size], order[size:]
        text = "\n".join(["pair_id\tsent1\tsent2\tscore", *rows]) + "\n"
        files[f"{_BLURB}/data/BIOSSES/{split}.tsv"] = text
    return {path: text.encode() for path, text in files.items()}


# Hallmarks of Cancer: sentences and their labels, a file each for an abstract.

_HALLMARKS = {
    "activating invasion and metastasis": ("Activating invasion and metastasis--Invasion", "invaded"),
    "avoiding immune destruction": ("Avoiding immune destruction--Immune response", "escaped lymphocytes of"),
    "cellular energetics": ("Cellular energetics--Glycolysis/Warburg effect", "consumed the glucose of"),
    "enabling replicative immortality": (
        "Enabling replicative immortality--Senescence", "stopped senescence in",
    ),
    "evading growth suppressors": (
        "Evading growth suppressors--By evading contact inhibition", "ignored contact in",
    ),
    "genomic instability and mutation": (
        "Genomic instability and mutation--Mutation", "mutated the genome of",
    ),
    "inducing angiogenesis": ("Inducing angiogenesis--By deregulating angiogenesis", "grew new vessels in"),
    "resisting cell death": ("Resisting cell death--Apoptosis", "blocked apoptosis in"),
    "sustaining proliferative signaling": (
        "Sustaining proliferative signaling--Receptors", "drove the growth of",
    ),
    "tumor promoting inflammation": ("Tumor promoting inflammation--Inflammation--", "inflamed"),
}  # fmt: skip
_HOC_SPLITS = {"train": 90, "dev": 20, "test": 30}
_SILENT = 5
"""Every fifth abstract has no hallmark."""


def _hoc_sentence(dice: Dice, lexicon: Lexicon, labels: Sequence[str]) -> str:
    verbs = [_HALLMARKS[label][1] for label in labels] or [dice.pick(["was given to", "was seen in"])]
    subject = _name(dice, lexicon, dice.pick([CHEMICAL, GENE]))
    tissue, organism = _name(dice, lexicon, TISSUE), _name(dice, lexicon, ORGANISM)
    return f"{subject} {' and '.join(verbs)} the {tissue} of {organism} ."


def _hoc_part(dice: Dice, labels: Sequence[str]) -> str:
    """Return a sentence's part of the line of labels, with the corpus's spaces."""
    if not labels:
        return "< NULL" if dice.chance(0.05) else "< "
    return "<" + dice.pick(["", " ", "  "]) + " AND ".join(_HALLMARKS[label][0] for label in labels)


def _abstract(dice: Dice, lexicon: Lexicon, silent: bool) -> tuple[list[str], str, bool]:
    """Return sentences, the line of labels, and whether there is a label."""
    topics = [] if silent else dice.sample(list(_HALLMARKS), dice.between(1, 2))
    labels: list[list[str]] = []
    for place in range(dice.between(3, 6)):
        labels.append(sorted(topics) if topics and (place == 1 or dice.chance(0.3)) else [])
    sentences = [_hoc_sentence(dice, lexicon, own) for own in labels]
    return sentences, "".join(_hoc_part(dice, own) for own in labels), any(labels)


def _hoc(lexicon: Lexicon, dice: Dice) -> Files:
    """Return the lists of splits: BLURB's names all abstracts; BLUE's, which users supply, those with a label
    and with other splits."""
    top = f"Hallmarks-of-Cancer-{_HOC_COMMIT}"
    members = {f"{top}/README.md": "Made up.\n"}
    labelled: dict[str, bool] = {}
    for number in range(sum(_HOC_SPLITS.values())):
        pmid = str(80_000_001 + 7 * number)
        sentences, line, labelled[pmid] = _abstract(dice, lexicon, number % _SILENT == 0)
        members[f"{top}/text/{pmid}.txt"] = "".join(f"{sentence}\n" for sentence in sentences)
        members[f"{top}/labels/{pmid}.txt"] = line
    files = {_HOC: tarball({name: text.encode() for name, text in members.items()})}
    rest, rest_of_blue = list(labelled), [pmid for pmid in reversed(labelled) if labelled[pmid]]
    for split, size in _HOC_SPLITS.items():
        blue = size * (_SILENT - 1) // _SILENT
        own, rest = rest[:size], rest[size:]
        own_of_blue, rest_of_blue = rest_of_blue[:blue], rest_of_blue[blue:]
        files[f"{_BLURB}/indexing/HoC/{split}_pmid.tsv"] = ",".join(f"{pmid}.txt" for pmid in own).encode()
        files[f"local/blue-hoc/{split}_docid.txt"] = "".join(f"{pmid}\n" for pmid in own_of_blue).encode()
    return files


# PubMedQA: one object of questions; the split is drawn by the authors' rule.

_OUTCOMES = {
    "yes": ["rose in all groups", "improved with treatment", "was higher than in controls"],
    "no": ["was the same in all groups", "did not change", "was no higher than in controls"],
    "maybe": ["rose in some groups only", "changed, but not in every sample", "varied from study to study"],
}
_DECIDED = {"yes": 110, "no": 68, "maybe": 22}


def _question(dice: Dice, lexicon: Lexicon, decision: str) -> dict[str, object]:
    gene, disease = _name(dice, lexicon, GENE), _name(dice, lexicon, DISEASE)
    organism, technique = _name(dice, lexicon, ORGANISM), _name(dice, lexicon, TECHNIQUE)
    outcome = dice.pick(_OUTCOMES[decision])
    return {
        "QUESTION": f"Does {gene} play a role in {disease}?",
        "CONTEXTS": [f"The role of {gene} in {disease} is not known.",
         f"We studied {dice.between(20, 90)} {organism} by {technique}.", f"The level of {gene} {outcome}."],
        "LABELS": ["BACKGROUND", "METHODS", "RESULTS"], "MESHES": [], "YEAR": str(dice.between(1995, 2018)),
        "reasoning_required_pred": decision, "reasoning_free_pred": decision, "final_decision": decision,
        "LONG_ANSWER": f"The answer is {decision}.",
    }  # fmt: skip


def _pubmedqa(lexicon: Lexicon, dice: Dice) -> Files:
    decisions = [decision for decision, number in _DECIDED.items() for _ in range(number)]
    decisions = dice.sample(decisions, len(decisions))
    questions = {str(85_000_003 + 11 * n): _question(dice, lexicon, one) for n, one in enumerate(decisions)}
    chance, test = Random(0), dict[str, str]()
    for decision, number in _DECIDED.items():
        pmids = [pmid for pmid, one in zip(questions, decisions, strict=True) if one == decision]
        chance.shuffle(pmids)
        test |= dict.fromkeys(pmids[number // 2 :], decision)
    files = {"ori_pqal.json": questions, "test_ground_truth.json": test}
    return {f"{_PUBMEDQA}/{name}": json.dumps(made, indent=4).encode() for name, made in files.items()}
