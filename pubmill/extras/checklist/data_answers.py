"""Answers on datasets, corpora and their terms of use."""

from collections.abc import Iterable, Mapping
from typing import Any

from pandas import DataFrame

from pubmill.extras.checklist.checklist_evidence import ChecklistAnswer, StudyData, grid, name_of, value_text
from pubmill.report.dataset_pages import ACCESS
from pubmill.report.rendering import count, quantity, share

TERMS_OF_MADE = "made here: its makers choose one, within the terms of its corpus"
TERMS_OF_RELEASED = "not recorded: see the card that came with its weights"


def sizes(study: StudyData) -> ChecklistAnswer:
    """Counts of each split, and whether they match the spec."""
    rows = []
    for name, card in study.cards.items():
        for split in card.splits:
            measures = [m for m in card.sizes if card.count(split, m) is not None]
            shown = "; ".join(f"{count(card.count(split, m) or 0)} {name_of(m)}" for m in measures)
            expected = card.expect.get(split, {})
            equal = all((card.count(split, measure) or 0) == value for measure, value in expected.items())
            verdict = ("as expected" if equal else "not as expected") if expected else "nothing expected"
            rows.append((name, split, shown, verdict))
    text = "Counted in the converted files. “As expected”: equal to the counts that the dataset's spec cites."
    table = grid(("Dataset", "Split", "Counts", "Spec"), rows)
    return ChecklistAnswer("measured", (text if rows else "No dataset is used.",), table)


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
        apply = f"; apply at {one.apply}" if one.apply else ""
        rows.append((name, ACCESS.get(one.access, one.access) + apply, where))
    made_up = [name for name, one in study.recipe.datasets.items() if one.made_up]
    text = (f"At this scale the files are not the published ones: {value_text(made_up)}.",) if made_up else ()
    return ChecklistAnswer("specified", text, grid(("Dataset", "Access", "Files"), rows))


def exclusions(study: StudyData) -> ChecklistAnswer:
    """What the conversion left out, by reason, and what was too long for the encoders."""
    rows = []
    for name, card in study.cards.items():
        for split in card.splits:
            reasons = card.counted_names("left_out.")
            if left_out := _listed((one, card.count(split, f"left_out.{one}")) for one in reasons):
                rows.append((name, split, left_out))
    cut = _listed(DataFrame(list(study.records["encoded"])).sum().items())
    text = (
        "Every dataset is converted from its original files by a function of pubmill/convert, with the "
        "options of its spec; repetitions are kept. The table shows what the sources have and the examples "
        "lack.",
        f"When read by encoders, in all runs together: {cut or 'nothing had to be shortened or left out'}.",
    )
    return ChecklistAnswer("measured", text, grid(("Dataset", "Split", "Left out"), rows))


def _listed(numbers: Iterable[tuple[Any, Any]]) -> str:
    """Return names with their counts, as text, without those of 0 or None."""
    return "; ".join(f"{name_of(name)}: {count(int(number))}" for name, number in numbers if number)


def overlaps(study: StudyData) -> ChecklistAnswer:
    """Inputs and documents that two splits share."""
    rows = []
    for name, card in study.cards.items():
        for one in (one for one in card.overlaps if one.texts or one.documents):
            documents = "not marked" if one.documents is None else count(one.documents)
            rows.append((name, f"{one.split}, {one.earlier}", count(one.texts), documents))
    text = () if rows else ("No input or document of one split was found in another.",)
    table = grid(("Dataset", "Splits", "Inputs in both", "Documents in both"), rows)
    return ChecklistAnswer("measured", text, table)


def pretraining(study: StudyData) -> ChecklistAnswer:
    """Corpora, vocabularies, and the length of each pretraining."""
    if not study.pretrainings:
        return ChecklistAnswer("not applicable", ("No model of this study was pretrained here.",))
    rows: list[tuple[str, str]] = []
    for name, one in study.corpora.items():
        rejected = ", ".join(f"{name_of(why)} {count(n)}" for why, n in sorted(one["rejected"].items()))
        size = f"{count(one['documents'])} documents of {count(one['parsed'])} read"
        words = f"{count(one['words'])} words; rejected: {rejected or 'none'}"
        rows.append((f"corpus {name}", f"{size}, {words}"))
    for name, one in study.vocabs.items():
        size = f"{count(one['size'])} pieces, learnt from {count(one['documents'])} documents"
        rows.append((f"vocabulary {name}", size))
    for run in study.pretrainings:
        size = f"{count(run.steps)} steps, {quantity(run.tokens)} tokens"
        rows.append((f"recipe {run.name}", f"{size}, last logged loss {run.last['loss']:.3f}"))
    return ChecklistAnswer("measured", (), grid(("What", "Size"), rows))


def collection(study: StudyData) -> ChecklistAnswer:
    return ChecklistAnswer(
        "not applicable", ("pubmill reads files that others published, and collects and annotates nothing.",)
    )


def citations(study: StudyData) -> ChecklistAnswer:
    """The citations in the specs."""
    rows = []
    cited: Mapping[str, Mapping[str, Any]] = {
        "dataset": study.recipe.datasets,
        "model": study.recipe.models,
        "protocol": study.recipe.protocols,
    }
    for kind, of_kind in cited.items():
        rows += [(f"{kind} {n}", one.citation or "none given in its spec") for n, one in of_kind.items()]
    text = ("A dataset's citation is the source of its expected counts; its page has more details.",)
    return ChecklistAnswer("specified", text, grid(("Artefact", "Citation"), rows))


def licences(study: StudyData) -> ChecklistAnswer:
    """The licences of datasets, from their specs, and of weights, as far as known."""
    rows = [(f"dataset {name}", one.licence) for name, one in study.recipe.datasets.items()]
    for name, model in study.recipe.models.items():
        made_here = model.weights.kind in ("pretraining", "random")
        rows.append((f"model {name}", TERMS_OF_MADE if made_here else TERMS_OF_RELEASED))
    text = ("pubmill itself: Apache License 2.0. It grants no licence for corpora, weights or scores.",)
    return ChecklistAnswer("specified", text, grid(("Artefact", "Licence"), rows))


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
