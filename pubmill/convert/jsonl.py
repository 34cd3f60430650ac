"""Writer of JSON lines, for examples of any kind."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pubmill.convert.exports import WriterOptions
from pubmill.examples.kinds import as_row


def write(examples: Sequence[Any], form: WriterOptions) -> Iterator[str]:
    """Yield one line per example of any kind, with the keys of `pubmill.examples.kinds`; no options."""
    form.refuse_all()
    for example in examples:
        yield json.dumps(as_row(example), ensure_ascii=False, sort_keys=True) + "\n"
