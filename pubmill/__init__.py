"""pubmill: from PubMed XML to the result tables of papers on biomedical language models.

`read_medline`, `read_jats`, `load_dataset`, `load_table`, `score`, `score_predictions`, `judge`,
`draw_verdicts` and `Tagger` are for use in other programs (`pubmill.library`); they are imported only when
they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pubmill.library.document_readers import read_jats as read_jats
    from pubmill.library.document_readers import read_medline as read_medline
    from pubmill.library.judged_values import draw_verdicts as draw_verdicts
    from pubmill.library.judged_values import judge as judge
    from pubmill.library.judged_values import load_table as load_table
    from pubmill.library.loaded_datasets import load_dataset as load_dataset
    from pubmill.library.scored_predictions import score as score
    from pubmill.library.scored_predictions import score_predictions as score_predictions
    from pubmill.library.tagger import Tagger as Tagger

__version__ = "0.1.0"

_HOMES = {
    "Tagger": "library.tagger",
    "draw_verdicts": "library.judged_values",
    "judge": "library.judged_values",
    "load_dataset": "library.loaded_datasets",
    "load_table": "library.judged_values",
    "read_jats": "library.document_readers",
    "read_medline": "library.document_readers",
    "score": "library.scored_predictions",
    "score_predictions": "library.scored_predictions",
}
"""Name of the library -> its module."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pubmill' has no attribute {name!r}")
    return getattr(import_module(f"pubmill.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
