"""Parser for untrusted XML of datasets: nothing is expanded, fetched or run.

None of the supported corpora declares a document type or entities, so a file that does is refused.
"""

from collections.abc import Callable

from lxml import etree

from pubmill.errors import PubmillError


def parse(content: str, where: str, repair: Callable[[str], str] | None = None) -> etree._Element:
    """Return the root, without comments and processing instructions.

    If the content is not well-formed, the function `repair`, if not None, corrects known faults of a release,
    and the content is parsed again. A `PubmillError` for XML that is still malformed, and for any
    declaration, names only the position, because the parser's own message may contain text.
    """
    if "<!DOCTYPE" in content or "<!ENTITY" in content:
        raise PubmillError(
            f"{where}: declares a document type or entities, which no file of the corpus does; refused"
        )
    content = content.removeprefix("\ufeff")
    try:
        return _root(content)
    except etree.XMLSyntaxError as error:
        fault = error
    try:
        if repair:
            return _root(repair(content))
    except etree.XMLSyntaxError as error:
        fault = error
    raise PubmillError(f"{where}:{fault.lineno}: not well-formed XML; download the archive again")


def _root(content: str) -> etree._Element:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=False, remove_comments=True, remove_pis=True, collect_ids=False,
    )  # fmt: skip
    root: etree._Element = etree.fromstring(content.encode(), parser)
    return root
