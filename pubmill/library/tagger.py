"""A fine-tuned model that annotates text."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.finetuning.predicting import choose_device
from pubmill.finetuning.task_models import load_task_model, read_facts
from pubmill.formats.documents import InputDocument, Passage, TextMention
from pubmill.prediction.annotating import Annotator, load_splitter
from pubmill.storage.privacy import keep_private


class Tagger:
    """A kept task model (docs/task-models.md) that finds mentions in text. `folder`: the model; `punkt`:
    NLTK's punkt_tab.zip, to predict by sentence instead of by line."""

    def __init__(self, folder: str | Path, punkt: str | Path | None = None) -> None:
        keep_private([Path(folder)])
        predictor = load_task_model(Path(folder), choose_device())
        if predictor.recipe.task != "tokens":
            raise PubmillError(
                f"{folder} is a model for the task {predictor.recipe.task}; a tagger needs one for tokens"
            )
        pairs = read_facts(Path(folder)).argument_types
        self._annotator = Annotator(predictor, pairs, load_splitter(Path(punkt) if punkt else None))

    def __call__(self, text: str) -> list[TextMention]:
        """Return the mentions of one text, in order: their characters (`start`, `end`), `type` and `text`."""
        return next(self.tag([text]))

    def tag(self, texts: Iterable[str]) -> Iterator[list[TextMention]]:
        """Yield the mentions of each text; many texts are predicted together."""
        documents = (
            InputDocument(id=str(number), where=f"text {number}", passages=[Passage(text=text, offset=0)])
            for number, text in enumerate(texts, 1)
        )
        for annotated in self._annotator.annotate(documents):
            yield [mention for passage in annotated.mentions or () for mention in passage]
