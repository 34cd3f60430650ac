"""pubmill: from PubMed XML to the result tables of papers on biomedical language models.

`read_medline`, `read_jats`, `load_dataset`, `score`, `score_predictions` and `Tagger` are for use in other
programs (`pubmill.library`); they are imported only when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pubmill.library.document_readers import read_jats as read_jats
    from pubmill.library.document_readers import read_medline as read_medline
    from pubmill.library.loaded_datasets import load_dataset as load_dataset
    from pubmill.library.scores import score as score
    from pubmill.library.scores import score_predictions as score_predictions
    from pubmill.library.tagger import Tagger as Tagger

__version__ = "0.1.0"

_HOMES = {
    "Tagger": "tagger",
    "load_dataset": "loaded_datasets",
    "read_jats": "document_readers",
    "read_medline": "document_readers",
    "score": "scores",
    "score_predictions": "scores",
}
"""Name of the library -> its module."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pubmill' has no attribute {name!r}")
    return getattr(import_module(f"pubmill.library.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
