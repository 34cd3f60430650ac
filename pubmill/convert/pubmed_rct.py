"""Converter of PubMed RCT (Dernoncourt and Lee 2017): sentences of abstracts, each with the role that it has.

    ###24491034
    BACKGROUND<tab>The emergence of HIV as a chronic condition ...
    (a blank line after each abstract)

Every sentence is an example of its own, without the sentences around it.
"""

from collections.abc import Iterator

from pubmill.convert.source_files import AllLabels, ConverterInput, check_id, lines
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample
from pubmill.messages.quotations import quote

MARK = "###"


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the sentences of one split; ids are `DOCUMENT-1`, `DOCUMENT-2`, ... The option `labels` lists all
    labels. A `PubmillError` names the file and line of anything in another form."""
    labels, path = source.options_as(AllLabels).labels, source.of_split()
    document, number = "", 0
    for place, line in lines(path):
        where = f"{path}:{place}"
        if line.startswith(MARK):
            document, number = check_id(line.removeprefix(MARK).strip(), where), 0
        elif line.strip():
            label, _, text = line.partition("\t")
            if not document or not text.strip():
                raise PubmillError(
                    f"{where}: expected `###ID`, then `LABEL<tab>sentence`; found {quote(line)}"
                )
            if label not in labels:
                raise PubmillError(f"{where}: expected a label of {labels}, found {quote(label)}")
            number += 1
            yield SequenceExample(
                id=f"{document}-{number}", document=document, text=text.replace("\t", " "), label=label
            )
