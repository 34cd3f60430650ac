"""Fill and render the reproducibility checklist of a study.

The questions are those of the reproducibility criteria of ACL conferences (after Dodge et al. 2019, "Show
Your Work") and those on artefacts and experiments of the Responsible NLP checklist, in our words. Every
answer is measured or comes from a spec; questions that neither can answer are marked as left to the authors.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pubmill.extras.checklist import data_answers as data
from pubmill.extras.checklist import model_answers as models
from pubmill.extras.checklist.checklist_evidence import ChecklistAnswer, Item, StudyData
from pubmill.report.rendering import renderers
from pubmill.storage.result_paths import CHECKLIST_FORMATS

QUESTIONS: dict[str, dict[str, Callable[[StudyData], ChecklistAnswer]]] = {
    "Models and scores": {
        "Which models are compared, and how is each adapted to a task?": models.description,
        "Where is the code, and what does it need?": models.code,
        "On what machines was it run?": models.machines,
        "How long does a run of each model take, and all of them together?": models.runtime,
        "How much energy was used?": models.energy,
        "How many parameters does each model have?": models.parameters,
        "Which validation scores correspond to the test scores?": models.validation,
        "How is each score defined?": models.metrics,
    },
    "Runs and hyper-parameters": {
        "How many times was a model trained and evaluated?": models.runs,
        "Between which values were hyper-parameters searched?": models.bounds,
        "Which values were best, and used for the reported scores?": models.chosen,
        "How were values tried, and how was one of them chosen?": models.method,
        "Which values were fixed?": models.fixed,
        "Is a reported score one run, or an aggregate of several?": models.statistics,
    },
    "Data": {
        "How large is each dataset, and each of its splits?": data.sizes,
        "How are labels distributed?": data.labels,
        "In which language are the data?": data.languages,
        "Where are the data available?": data.links,
        "How were the data prepared, and what was left out?": data.exclusions,
        "Do splits share inputs?": data.overlaps,
        "What were models made here pretrained on?": data.pretraining,
        "Were new data collected or annotated?": data.collection,
    },
    "Terms and limits": {
        "Who made the artefacts that are used, and where are they cited?": data.citations,
        "What are their licences and terms of use?": data.licences,
        "Is their use consistent with what their makers intended?": data.intended_use,
        "Do the data name or describe people?": data.people,
        "What limits the meaning of the scores?": models.limits,
        "What are the risks of this work?": models.risks,
        "Were AI assistants used, in the research or in writing?": models.assistants,
    },
}


@dataclass(frozen=True)
class Checklist:
    """The content of the page."""

    title: str
    warning: str
    sections: dict[str, list[Item]]

    @property
    def unknown(self) -> int:
        """Number of answers left to the authors."""
        return sum(item.answer.basis == "unknown" for items in self.sections.values() for item in items)

    @property
    def total(self) -> int:
        """Number of answers."""
        return sum(map(len, self.sections.values()))


def fill(study: StudyData) -> Checklist:
    """Answer every question from the data of a study."""
    return Checklist(
        title=study.recipe.title,
        warning="" if study.recipe.comparable else study.recipe.scale_title,
        sections={
            section: [Item(question, answer(study)) for question, answer in questions.items()]
            for section, questions in QUESTIONS.items()
        },
    )


CHECKLIST_RENDERERS = renderers("checklist", CHECKLIST_FORMATS, lambda checklist: {"checklist": checklist})
