"""`pubmill audit`."""

import typer

from pubmill.cli.checkout import checkout, start_script
from pubmill.errors import PubmillError
from pubmill.messages.nearest_names import unknown

OTHER_PROGRAMS = ("scorers", "floors")
FORMS = ("page", "value", "runs", "seen", "ranks", *OTHER_PROGRAMS)


def audit(context: typer.Context) -> None:
    """Test which published numbers are possible.

    Without further words, all published numbers are tested and a page is written. Other forms: test one
    number (`value 87.56 --metric accuracy --n 140 --runs 10`); compare printed values with the runs that make
    them (`runs`); split scores by what items share with training
    (`seen RUNS`); test which ranks of a table are resolved (`ranks TABLE`); score predictions by every
    convention of the literature (`scorers FILE --dataset D`); or score predictions that need no training, or
    only seconds of it (`floors`).
    """
    checkout()
    words = context.args or ["page"]
    if not words[0].startswith("-") and words[0] not in FORMS:
        raise PubmillError(unknown("form of audit", words[0], FORMS))
    if words[0] in OTHER_PROGRAMS:
        start_script(words[0], *words[1:])
    start_script("audit", *words)
