"""Question answering: SQuAD at its URLs, and BioASQ's archives and files as registered users get them.

Facts are stated in fixed words and asked for in others, so that they can be learnt; names are invented. Every
question and context of BioASQ contains the canary.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from tests.world.archives import zipped
from tests.world.dice import Dice
from tests.world.language import PLAIN, running_text, sentence
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, ORGANISM, TECHNIQUE, TISSUE, Concept, Lexicon
from tests.world.part import CANARY, Files

_SQUAD = "rajpurkar.github.io/SQuAD-explorer/dataset"
_BIOASQ = "local/bioasq"
_YES_NO = Path(__file__).resolve().parents[2] / "specs/datasets/bioasq-yesno.yaml"
_YEARS = (4, 5, 6, 7)

Json = dict[str, Any]


@dataclass(frozen=True)
class Fact:
    """A sentence with a fact about `{0}`, whose answer is `{1}`, and the question for it."""

    states: str
    asks: str
    about: str
    answer: str


TOWNS = [
    Fact("The river {1} flows through {0}.", "Which river flows through {0}?", TISSUE, ORGANISM),
    Fact("The mayor of {0} is {1}.", "Who is the mayor of {0}?", TISSUE, TECHNIQUE),
    Fact("In summer the people of {0} grow {1}.", "What do people grow in {0}?", TISSUE, CHEMICAL),
]
MEDICINE = [
    Fact("{1} is the treatment of choice for {0}.", "Which drug is used for {0}?", DISEASE, CHEMICAL),
    Fact("Mutations of {1} are the cause of {0}.", "Which gene is mutated in {0}?", DISEASE, GENE),
    Fact("In vitro {0} binds to {1}.", "Which protein is the target of {0}?", CHEMICAL, GENE),
]
TRIALS = {
    "yes": "{1} improved {0} in all of the patients.",
    "no": "{1} failed, and {0} progressed in the patients.",
}


def part(lexicon: Lexicon, seed: int) -> Files:
    files: Files = {}
    sizes = {"1.1": {"train": 40, "dev": 14}, "2.0": {"train": 44, "dev": 15}}
    for number, (version, splits) in enumerate(sizes.items()):
        files |= _squad(version, splits, lexicon, seed + 10 * number)
    for year in _YEARS:
        files |= _bioasq(year, lexicon, seed + 10 * year)
    return files


# --- SQuAD


def _squad(version: str, splits: dict[str, int], lexicon: Lexicon, seed: int) -> Files:
    """Return SQuAD's files. `splits`: number of articles; each article has two paragraphs about one town."""
    files: Files = {}
    for number, (split, articles) in enumerate(splits.items()):
        dice = Dice(seed + number)
        towns = dice.sample(lexicon[TISSUE] + lexicon[GENE], articles)
        places = count(1)
        data: list[Json] = [
            {
                "title": town.name.title(),
                "paragraphs": _paragraphs(dice, lexicon, town, version, split, places),
            }
            for town in towns
        ]
        named = "1.1" if version == "1.1" else "v2.0"
        files[f"{_SQUAD}/{split}-v{version}.json"] = json.dumps({"data": data, "version": named}).encode()
    return files


def _paragraphs(
    dice: Dice, lexicon: Lexicon, town: Concept, version: str, split: str, places: Iterator[int]
) -> list[Json]:
    paragraphs = []
    for _ in range(2):
        context, qas = f"This is about {town.name.title()}.", []
        for fact in dice.sample(TOWNS, len(TOWNS)):
            answer = dice.pick(lexicon[fact.answer]).name.title()
            stated = version == "1.1" or dice.chance(0.6)
            if stated:
                context += " " + fact.states.format(town.name.title(), answer)
            name = _id(f"{version} {split} {next(places)}")
            asks = fact.asks.format(town.name.title())
            qas.append({"question": asks, "id": name, **_answers(context, stated and answer, version, split)})
        paragraphs.append({"context": context, "qas": qas})
    return paragraphs


def _answers(context: str, answer: str | bool, version: str, split: str) -> Json:
    """Return the answers: in dev, three equal ones; an unanswerable question has a plausible wrong one."""
    if not answer:
        plausible = [{"text": "This", "answer_start": 0}]
        return {"answers": [], "is_impossible": True, "plausible_answers": plausible}
    # The fact was added last, so it contains the answer's last occurrence.
    stated = [{"text": answer, "answer_start": context.rindex(str(answer))}] * (3 if split == "dev" else 1)
    return {"answers": stated, **({} if version == "1.1" else {"is_impossible": False})}


# --- BioASQ


def _bioasq(year: int, lexicon: Lexicon, seed: int) -> Files:
    """Return both archives of a year, and its factoid questions in the form of BioBERT's authors."""
    dice = Dice(seed)
    train = _questions(dice, lexicon, f"{year} train", {"factoid": 60, "list": 3, "summary": 2}, year)
    test = _questions(dice, lexicon, f"{year} test", {"factoid": 25, "list": 2, "summary": 4}, year)
    dev = yaml.safe_load(_YES_NO.read_text())["options"]["dev_questions"] if year == 7 else []
    asked = (150, 60) if year == 7 else (3, 2)
    train += _yes_no(dice, lexicon, [*dev, *(_id(f"{year} yes/no {n}") for n in range(asked[0]))])
    test += _yes_no(dice, lexicon, [_id(f"{year} yes/no test {n}") for n in range(asked[1])])
    if year == 7:
        lists = Dice(seed + 1)  # so that all other questions stay as they are
        train += _questions(lists, lexicon, f"{year} list train", {"list": 40}, year)
        test += _questions(lists, lexicon, f"{year} list test", {"list": 30}, year)
    name = "BioASQ-training7b/trainining7b.json" if year == 7 else f"BioASQ-trainingDataset{year}b.json"
    twice = train[:1] if year == 4 else []
    batches = {
        f"Task{year}BGoldenEnriched/{year}B{n + 1}_golden.json": _json({"questions": test[n::5]})
        for n in range(5)
    }
    of_biobert = {
        "train": _of_biobert(dice, lexicon, train, answered=True),
        "test": _of_biobert(dice, lexicon, test, answered=False),
    }
    files = {
        f"BioASQ-training{year}b.zip": zipped(
            {name: _json({"questions": train + twice}), f"__MACOSX/._{name}": b"\0"}
        ),
        f"Task{year}BGoldenEnriched.zip": zipped(batches),
        **{f"BioASQ-{split}-factoid-{year}b.json": _json(made) for split, made in of_biobert.items()},
    }
    return {f"{_BIOASQ}/{name}": data for name, data in files.items()}


def _questions(dice: Dice, lexicon: Lexicon, name: str, kinds: dict[str, int], year: int) -> list[Json]:
    """Return questions of these types."""
    made = []
    for kind, number in kinds.items():
        for place in range(number):
            fact = dice.pick(MEDICINE)
            about, answer = dice.pick(lexicon[fact.about]), dice.pick(lexicon[fact.answer])
            states = [
                fact.states.format(about.name, answer.name) if dice.chance(0.8) else "" for _ in range(3)
            ]
            question = {
                "id": _id(f"{name} {kind} {place}"), "type": kind,
                "body": f"{fact.asks.format(about.name)} ({CANARY})",
                "snippets": [_snippet(dice, lexicon, text) for text in states[: dice.between(1, 3)]],
                "ideal_answer": [f"{CANARY} {answer.name}"],
            }  # fmt: skip
            if kind != "summary":
                question["exact_answer"] = _exact(answer, kind, year)
            made.append(question)
    return made


def _exact(answer: Concept, kind: str, year: int) -> Any:
    """Return the answers in the year's form: lists of lists or a string at first, later synonyms."""
    golds = [answer.name.upper(), answer.abbreviation]
    if kind == "list" or year == 4:
        return [golds]
    return golds[0] if year == 5 else golds


def _yes_no(dice: Dice, lexicon: Lexicon, ids: Sequence[str]) -> list[Json]:
    made = []
    for name in ids:
        label = "yes" if dice.chance(0.6) else "no"
        disease, drug = dice.pick(lexicon[DISEASE]).name, dice.pick(lexicon[CHEMICAL]).name
        states = TRIALS[label].format(disease, drug)
        made.append(
            {
                "id": name,
                "type": "yesno",
                "body": f"Is {drug} effective\nin {disease} ({CANARY})?",
                "snippets": [_snippet(dice, lexicon, states) for _ in range(dice.between(1, 2))],
                "exact_answer": label,
            }
        )
    return made


def _snippet(dice: Dice, lexicon: Lexicon, states: str) -> Json:
    text = f"{CANARY}: {_filler(dice, lexicon)}\n{states} {_filler(dice, lexicon)}".strip()
    address = f"http://www.ncbi.nlm.nih.gov/pubmed/{dice.between(91_000_000, 91_999_999)}"
    return {"text": text, "document": address, "beginSection": "abstract", "offsetInBeginSection": 0}


def _of_biobert(dice: Dice, lexicon: Lexicon, found: list[Json], answered: bool) -> Json:
    """Return a paragraph for each snippet, extended to an abstract; with `answered`, only those with an
    answer."""
    paragraphs = []
    for question in found:
        if question["type"] != "factoid":
            continue
        for number, snippet in enumerate(question["snippets"]):
            context = " ".join(
                [_filler(dice, lexicon), snippet["text"].replace("\n", " "), _filler(dice, lexicon)]
            )
            qa: Json = {"question": question["body"], "id": f"{question['id']}_{number:03}"}
            start = context.upper().find(_first(question["exact_answer"]))
            if answered and start >= 0:
                end = start + len(_first(question["exact_answer"]))
                qa["answers"] = [{"text": context[start:end], "answer_start": start}]
            if not answered or start >= 0:
                paragraphs.append({"context": context, "qas": [qa]})
    return {"version": "BioASQ6b", "data": [{"title": "BioASQ6b", "paragraphs": paragraphs}]}


def _first(exact: Any) -> str:
    return exact if isinstance(exact, str) else _first(exact[0])


def _filler(dice: Dice, lexicon: Lexicon) -> str:
    return running_text(sentence(dice, lexicon, PLAIN))


def _id(name: str) -> str:
    """Return 24 hexadecimal digits, like BioASQ's ids."""
    return sha1(name.encode()).hexdigest()[:24]


def _json(content: Json) -> bytes:
    return json.dumps(content, indent=1).encode()
