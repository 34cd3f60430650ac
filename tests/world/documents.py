"""Gene-disease relations (GAD, EU-ADR), BIOSSES, Hallmarks of Cancer and PubMedQA, in their original forms.

Labels depend on words: the verb between gene and disease, the number of words that two sentences share, the
process that a sentence names, the outcome of a study.
"""

import json
from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.world.archives import tarball
from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, ORGANISM, TECHNIQUE, TISSUE, Lexicon
from tests.world.part import Expect, Part

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

GAD_ROWS_OF_TRAIN = 200
"""Row at which fold 1 of GAD is cut into BLURB's train and dev (4261 in the real one)."""


def part(lexicon: Lexicon, seed: int) -> Part:
    """Return all files, and the expected counts of each dataset."""
    whole = Part({}, {})
    for number, make in enumerate((_gad, _eu_adr, _biosses, _hoc, _pubmedqa)):
        whole = whole.joined(make(lexicon, Dice(seed + number)))
    return whole


def _name(dice: Dice, lexicon: Lexicon, kind: str) -> str:
    return dice.pick(lexicon[kind]).name


# Gene-disease relations: ten folds of one pool, with a header in the tests only.

_RELATED = ["is associated with", "raises the risk of", "mutations cause", "predisposes carriers to"]
_UNRELATED = ["was measured in patients without", "did not differ in", "is not linked to", "was normal in"]
_OPENINGS = [
    "We found that",
    "In this cohort ,",
    "Our results show that",
    "Among %O ,",
    "By %M ,",
    "After %C ,",
]
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


def _labels(rows: Sequence[tuple[str, str]]) -> dict[str, int]:
    found = Counter(label for _, label in rows)
    return {"examples": len(rows), "labels.0": found["0"], "labels.1": found["1"]}


def _folds(name: str, folder: str, pool: list[tuple[str, str]]) -> tuple[Part, list[tuple[str, str]]]:
    """Return ten folds, and the number of train rows of the first."""
    whole = Part({}, {})
    trains = []
    for fold in range(10):
        test = pool[fold::10]
        train = [row for i, row in enumerate(pool) if i % 10 != fold]
        trains.append(train)
        lines = [f"{i}\t{text}\t{label}\n" for i, (text, label) in enumerate(test)]
        files = {
            "train.tsv": "".join(f"{text}\t{label}\n" for text, label in train),
            "test.tsv": "index\tsentence\tlabel\n" + "".join(lines),
        }
        place = f"{_FOLDS}/{folder}/{fold + 1}"
        whole = whole.joined(
            Part(
                {f"{place}/{file}": text.encode() for file, text in files.items()},
                {f"{name}@fold-{fold + 1}": {"train": _labels(train), "test": _labels(test)}},
            )
        )
    return whole, trains[0]


def _gad(lexicon: Lexicon, dice: Dice) -> Part:
    pool = _pool(dice, lexicon, 254, positive=0.53)
    folds, first = _folds("gad", "GAD", pool)
    splits = {"train": first[:GAD_ROWS_OF_TRAIN], "dev": first[GAD_ROWS_OF_TRAIN:], "test": pool[0::10]}
    return folds.joined(Part({}, {"gad@blurb": {name: _labels(rows) for name, rows in splits.items()}}))


def _eu_adr(lexicon: Lexicon, dice: Dice) -> Part:
    return _folds("eu-adr", "euadr", _pool(dice, lexicon, 105, positive=0.7))[0]


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


def _biosses(lexicon: Lexicon, dice: Dice) -> Part:
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
    expect: Expect = {"biosses": {}}
    for split, size in _BIOSSES.items():
        rows, order = order[:size], order[size:]
        text = "\n".join(["pair_id\tsent1\tsent2\tscore", *rows]) + "\n"
        files[f"{_BLURB}/data/BIOSSES/{split}.tsv"] = text
        expect["biosses"][split] = {"examples": size, "ratings": 5 * size}
    return Part({path: text.encode() for path, text in files.items()}, expect)


# Hallmarks of Cancer: sentences and their labels, a file each for an abstract.

_HALLMARKS = {
    "activating invasion and metastasis": ("Activating invasion and metastasis--Invasion", "invaded"),
    "avoiding immune destruction": ("Avoiding immune destruction--Immune response", "escaped lymphocytes of"),
    "cellular energetics": ("Cellular energetics--Glycolysis/Warburg effect", "consumed the glucose of"),
    "enabling replicative immortality": (
        "Enabling replicative immortality--Senescence",
        "stopped senescence in",
    ),
    "evading growth suppressors": (
        "Evading growth suppressors--By evading contact inhibition",
        "ignored contact in",
    ),
    "genomic instability and mutation": (
        "Genomic instability and mutation--Mutation",
        "mutated the genome of",
    ),
    "inducing angiogenesis": ("Inducing angiogenesis--By deregulating angiogenesis", "grew new vessels in"),
    "resisting cell death": ("Resisting cell death--Apoptosis", "blocked apoptosis in"),
    "sustaining proliferative signaling": (
        "Sustaining proliferative signaling--Receptors",
        "drove the growth of",
    ),
    "tumor promoting inflammation": ("Tumor promoting inflammation--Inflammation--", "inflamed"),
}
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


def _abstract(dice: Dice, lexicon: Lexicon, silent: bool) -> tuple[list[str], str, list[list[str]]]:
    """Return sentences, the line of labels, and each sentence's hallmarks."""
    topics = [] if silent else dice.sample(list(_HALLMARKS), dice.between(1, 2))
    labels: list[list[str]] = []
    for place in range(dice.between(3, 6)):
        labels.append(sorted(topics) if topics and (place == 1 or dice.chance(0.3)) else [])
    sentences = [_hoc_sentence(dice, lexicon, own) for own in labels]
    return sentences, "".join(_hoc_part(dice, own) for own in labels), labels


def _count_hoc(labels: Sequence[list[list[str]]]) -> dict[str, int]:
    found = Counter(label for document in labels for label in {one for own in document for one in own})
    return {
        "examples": len(labels),
        "sentences": sum(map(len, labels)),
        "without_label": sum(not any(document) for document in labels),
        **{f"labels.{label}": found[label] for label in _HALLMARKS},
    }


def _hoc(lexicon: Lexicon, dice: Dice) -> Part:
    """Return the lists of splits: BLURB's names all abstracts; BLUE's, which users supply, those with a label
    and with other splits."""
    top = f"Hallmarks-of-Cancer-{_HOC_COMMIT}"
    members = {f"{top}/README.md": "Made up.\n"}
    labels: dict[str, list[list[str]]] = {}
    for number in range(sum(_HOC_SPLITS.values())):
        pmid = str(80_000_001 + 7 * number)
        sentences, line, labels[pmid] = _abstract(dice, lexicon, number % _SILENT == 0)
        members[f"{top}/text/{pmid}.txt"] = "".join(f"{sentence}\n" for sentence in sentences)
        members[f"{top}/labels/{pmid}.txt"] = line
    files = {_HOC: tarball({name: text.encode() for name, text in members.items()})}
    expect: Expect = {"hoc@blurb": {}, "hoc@blue": {}}
    rest, rest_of_blue = list(labels), [pmid for pmid in reversed(labels) if any(labels[pmid])]
    for split, size in _HOC_SPLITS.items():
        blue = size * (_SILENT - 1) // _SILENT
        own, rest = rest[:size], rest[size:]
        own_of_blue, rest_of_blue = rest_of_blue[:blue], rest_of_blue[blue:]
        files[f"{_BLURB}/indexing/HoC/{split}_pmid.tsv"] = ",".join(f"{pmid}.txt" for pmid in own).encode()
        files[f"local/blue-hoc/{split}_docid.txt"] = "".join(f"{pmid}\n" for pmid in own_of_blue).encode()
        expect["hoc@blurb"][split] = _count_hoc([labels[pmid] for pmid in own])
        expect["hoc@blue"][split] = {"examples": len(own_of_blue), "without_label": 0}
    return Part(files, expect)


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
        "CONTEXTS": [
            f"The role of {gene} in {disease} is not known.",
            f"We studied {dice.between(20, 90)} {organism} by {technique}.",
            f"The level of {gene} {outcome}.",
        ],
        "LABELS": ["BACKGROUND", "METHODS", "RESULTS"],
        "MESHES": [],
        "YEAR": str(dice.between(1995, 2018)),
        "reasoning_required_pred": decision,
        "reasoning_free_pred": decision,
        "final_decision": decision,
        "LONG_ANSWER": f"The answer is {decision}.",
    }


def _authors_cut(decided: dict[str, str], folds: int, chance: Random) -> list[dict[str, str]]:
    """Return the folds: each decision's questions are shuffled and dealt in runs; if the last fold has
    another size than the first, it gets one random question from each fold."""
    made: list[dict[str, str]] = [{} for _ in range(folds)]
    for decision in ("yes", "no", "maybe"):
        pmids = [pmid for pmid, one in decided.items() if one == decision]
        chance.shuffle(pmids)
        run = -(-len(pmids) // folds)
        for place, pmid in enumerate(pmids):
            made[place // run][pmid] = decision
    if len(made[0]) != len(made[-1]):
        for fold in made[:-1]:
            pmid = chance.choice(list(fold))
            made[-1][pmid] = fold.pop(pmid)
    return made


def _pubmedqa(lexicon: Lexicon, dice: Dice) -> Part:
    decisions = [decision for decision, number in _DECIDED.items() for _ in range(number)]
    decisions = dice.sample(decisions, len(decisions))
    questions = {
        str(85_000_003 + 11 * number): _question(dice, lexicon, decision)
        for number, decision in enumerate(decisions)
    }
    chance = Random(0)
    rest, test = _authors_cut(dict(zip(questions, decisions, strict=True)), 2, chance)
    dev, *others = _authors_cut(rest, 10, chance)
    train = {pmid: decision for fold in others for pmid, decision in fold.items()}
    files = {"ori_pqal.json": questions, "test_ground_truth.json": test}
    expect: Expect = {"pubmedqa": {}}
    for split, decided in {"train": train, "dev": dev, "test": test}.items():
        found = Counter(decided.values())
        by_label = {f"labels.{decision}": found[decision] for decision in _DECIDED}
        expect["pubmedqa"][split] = {"examples": len(decided), "documents": len(decided), **by_label}
    return Part(
        {f"{_PUBMEDQA}/{name}": json.dumps(content, indent=4).encode() for name, content in files.items()},
        expect,
    )
