"""Answers on datasets, corpora and their terms of use."""

from collections.abc import Iterable

from pandas import DataFrame

from pubmill.extras.checklist.checklist_answers import ChecklistAnswer, grid, value_text
from pubmill.extras.checklist.checklist_evidence import StudyData
from pubmill.report.rendering import count, quantity, share

ACCESS = {
    "public": "public",
    "registration": "free of charge after registration",
    "credentialed": "only for people who were granted access",
}


def sizes(study: StudyData) -> ChecklistAnswer:
    """Counts of each split, and whether they match the spec."""
    rows = []
    for name, card in study.cards.items():
        for split in card.splits:
            measures = [m for m in card.sizes if card.count(split, m) is not None]
            shown = "; ".join(f"{count(card.count(split, m) or 0)} {m.replace('_', ' ')}" for m in measures)
            expected = card.expect.get(split, {})
            equal = all((card.count(split, measure) or 0) == value for measure, value in expected.items())
            expected_text = (
                ("as expected" if equal else "not as expected") if expected else "nothing expected"
            )
            rows.append((name, split, shown, expected_text))
    text = (
        "Counted in the converted files. “As expected”: equal to the counts that the dataset's spec cites.",
    )
    return ChecklistAnswer(
        "measured",
        text if rows else ("No dataset is used.",),
        grid(("Dataset", "Split", "Counts", "Spec"), rows),
    )


def labels(study: StudyData) -> ChecklistAnswer:
    """Label shares by split; if there are many labels, a reference to the dataset's page."""
    rows = []
    for name, card in study.cards.items():
        names = card.counted_names(card.labels) if card.labels else []
        for split in card.splits if names else []:
            counts = {label: card.count(split, card.labels + label) or 0 for label in names}
            total = sum(counts.values())
            rows.append((name, split, ", ".join(f"{label} {share(n, total)}" for label, n in counts.items())))
    text = ("The pages of the datasets (pages/datasets) have the numbers.",)
    return ChecklistAnswer("measured", text, grid(("Dataset", "Split", "Shares"), rows))


def languages(study: StudyData) -> ChecklistAnswer:
    return ChecklistAnswer("unknown", ("Neither the datasets' specs nor their files name a language.",))


def links(study: StudyData) -> ChecklistAnswer:
    """Addresses of the files, and how to get access."""
    rows = []
    for name, one in study.recipe.datasets.items():
        more = f" and {len(one.links) - 1} more; its page has all" if len(one.links) > 1 else ""
        where = one.links[0] + more if one.links else "files of the user's own"
        rows.append(
            (
                name,
                f"{ACCESS.get(one.access, one.access)}{f'; apply at {one.apply}' if one.apply else ''}",
                where,
            )
        )
    made_up = [name for name, one in study.recipe.datasets.items() if one.made_up]
    text = (f"At this scale the files are not the published ones: {value_text(made_up)}.",) if made_up else ()
    return ChecklistAnswer("specified", text, grid(("Dataset", "Access", "Files"), rows))


def exclusions(study: StudyData) -> ChecklistAnswer:
    """What the conversion left out, by reason, and what was too long for the encoders."""
    rows = [
        (
            name,
            split,
            "; ".join(f"{reason.replace('_', ' ')}: {count(number)}" for reason, number in left_out.items()),
        )
        for name, card in study.cards.items()
        for split in card.splits
        if (
            left_out := {
                r: n for r in card.counted_names("left_out.") if (n := card.count(split, f"left_out.{r}"))
            }
        )
    ]
    shortened = DataFrame(list(study.records["encoded"])).sum()
    cut = "; ".join(
        f"{what.replace('_', ' ')}: {count(int(number))}" for what, number in shortened.items() if number
    )
    text = (
        "Every dataset is converted from its original files by a function of pubmill/convert, with the "
        "options of its spec; repetitions are kept. The table shows what the sources have and the examples "
        "lack.",
        f"When read by encoders, in all runs together: {cut or 'nothing had to be shortened or left out'}.",
    )
    return ChecklistAnswer("measured", text, grid(("Dataset", "Split", "Left out"), rows))


def overlaps(study: StudyData) -> ChecklistAnswer:
    """Inputs and documents that two splits share."""
    rows = [
        (
            name,
            f"{one.split}, {one.earlier}",
            count(one.texts),
            "not marked" if one.documents is None else count(one.documents),
        )
        for name, card in study.cards.items()
        for one in card.overlaps
        if one.texts or one.documents
    ]
    text = () if rows else ("No input or document of one split was found in another.",)
    return ChecklistAnswer(
        "measured", text, grid(("Dataset", "Splits", "Inputs in both", "Documents in both"), rows)
    )


def pretraining(study: StudyData) -> ChecklistAnswer:
    """Corpora, vocabularies, and the length of each pretraining."""
    if not study.pretrainings:
        return ChecklistAnswer("not applicable", ("No model of this study was pretrained here.",))
    rows: list[tuple[str, str]] = []
    for name, one in study.corpora.items():
        rejected = ", ".join(
            f"{reason.replace('_', ' ')} {count(n)}" for reason, n in sorted(one["rejected"].items())
        )
        size = (
            f"{count(one['documents'])} documents of {count(one['parsed'])} read, {count(one['words'])} words"
        )
        rows.append((f"corpus {name}", f"{size}; rejected: {rejected or 'none'}"))
    for name, one in study.vocabs.items():
        rows.append(
            (
                f"vocabulary {name}",
                f"{count(one['size'])} pieces, learnt from {count(one['documents'])} documents",
            )
        )
    for run in study.pretrainings:
        loss = f"last logged loss {run.last['loss']:.3f}"
        rows.append(
            (f"recipe {run.name}", f"{count(run.steps)} steps, {quantity(run.tokens)} tokens, {loss}")
        )
    return ChecklistAnswer("measured", (), grid(("What", "Size"), rows))


def collection(study: StudyData) -> ChecklistAnswer:
    return ChecklistAnswer(
        "not applicable", ("pubmill reads files that others published, and collects and annotates nothing.",)
    )


def citations(study: StudyData) -> ChecklistAnswer:
    """The citations in the specs."""
    rows = [*_citations("dataset", ((n, one.citation) for n, one in study.recipe.datasets.items()))]
    rows += _citations("model", ((n, one.citation) for n, one in study.recipe.models.items()))
    rows += _citations("protocol", ((n, one.citation) for n, one in study.recipe.protocols.items()))
    text = ("A dataset's citation is the source of its expected counts; its page has more details.",)
    return ChecklistAnswer("specified", text, grid(("Artefact", "Citation"), rows))


def _citations(kind: str, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(f"{kind} {name}", citation or "none given in its spec") for name, citation in pairs]


def licences(study: StudyData) -> ChecklistAnswer:
    """The licences of datasets, from their specs, and of weights, as far as known."""
    rows = [(f"dataset {name}", one.licence) for name, one in study.recipe.datasets.items()]
    rows += [(f"model {name}", _weights_terms(one.weights.kind)) for name, one in study.recipe.models.items()]
    text = ("pubmill itself: Apache License 2.0. It grants no licence for corpora, weights or scores.",)
    return ChecklistAnswer("specified", text, grid(("Artefact", "Licence"), rows))


def _weights_terms(kind: str) -> str:
    if kind in ("pretraining", "random"):
        return "made here: its makers choose one, within the terms of its corpus"
    return "not recorded: see the card that came with its weights"


def intended_use(study: StudyData) -> ChecklistAnswer:
    text = (
        "Datasets are used to fine-tune and compare models; they are not redistributed. The authors "
        "must judge whether each licence allows this use.",
    )
    return ChecklistAnswer("unknown", text)


def people(study: StudyData) -> ChecklistAnswer:
    """Clinical data, by domain and access."""
    clinical = [name for name, one in study.recipe.datasets.items() if one.domain == "clinical"]
    restricted = [name for name, one in study.recipe.datasets.items() if one.access != "public"]
    text = (
        f"Datasets of clinical text: {value_text(clinical)}. Not public: {value_text(restricted)}.",
        "Text of data that are not public appears in no log, record, table, page or report, and only the "
        "owner of the files can read the examples. It was not examined whether any text describes people.",
    )
    return ChecklistAnswer("specified", text)
