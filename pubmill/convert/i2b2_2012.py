"""Converter of the i2b2 2012 corpus of temporal relations (EVENT and TIMEX3) to tokens examples.

Sources: `train` (2012-07-15.original-annotation.release.tar.gz) and `test`
(2012-08-08.test-data.event-timex-groundtruth.tar.gz), with a file `NUMBER.xml` for each note. `i2b2_xml`
describes the form and its irregularities. dev is a part of train, by documents (`held_out`).
"""

import re
from collections.abc import Iterator

from pubmill.convert import i2b2_xml
from pubmill.convert.source_files import ConverterInput, SpecError
from pubmill.examples.kinds import TokensExample

TYPES = {
    "EVENT": frozenset({"CLINICAL_DEPT", "EVIDENTIAL", "OCCURRENCE", "PROBLEM", "TEST", "TREATMENT"}),
    "TIMEX3": frozenset({"DATE", "DURATION", "FREQUENCY", "TIME"}),
}
OTHERS = frozenset({"SECTIME", "TLINK"})
_NAME = re.compile(r"([0-9]+)\.xml")


def read(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield the examples of one split.

    Options: `tags`, which of EVENT and TIMEX3 are mentions; `dev` (`held_out`); `differing` (`i2b2_xml`).
    `left_out` counts annotations with other names by their names, and those with an empty type (which
    ClinicalBERT and bio-lm skip, too) as `mentions_without_type`.
    """
    source.check_options("tags", "dev", "differing")
    tags = source.options.get("tags")
    if not isinstance(tags, list) or not tags or not set(map(str, tags)) <= TYPES.keys():
        raise SpecError(f"the converter's option `tags` is {tags!r}; give a list of {sorted(TYPES)}")
    notes = i2b2_xml.notes(source.input("test" if source.split == "test" else "train"), _NAME)
    types = {name: TYPES[name] for name in tags}
    known = i2b2_xml.Tags(types, OTHERS | TYPES.keys() - types.keys(), "type", untyped=True)
    yield from i2b2_xml.examples(source, notes, known)
