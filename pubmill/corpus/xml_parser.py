"""Parsing of untrusted XML, without entities, network and DTD, and of PMC's articles."""

import re
from typing import Any, cast

from lxml import etree

from pubmill.errors import PubmillError

DECLARES = (
    "declares entities or other markup of its own in its document type, which {} never do; expanding such "
    "entities can exhaust memory or read local files, so it is refused"
)
_DECLARES = DECLARES.format("PMC's articles")
_PLACE = re.compile(r",? line \d+(?:, column \d+)?")


def parser(target: object | None = None) -> etree.XMLParser:
    """Return a parser without entities, network and DTD. It removes comments and processing instructions,
    unless a `target` replaces the tree."""
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
        remove_comments=target is None, remove_pis=target is None, collect_ids=False,
        target=cast(Any, target),
    )  # fmt: skip


def fault(error: etree.XMLSyntaxError) -> str:
    """Return the parser's message on one line, without its line numbers, which count from the parsed part."""
    return " ".join(_PLACE.sub("", error.msg or "unknown fault").split())


RESERVED = "\ufdd0".encode()
"""A Unicode noncharacter, which no text may contain; the reader of articles marks text with it."""

_DOCTYPE = re.compile(rb"<!DOCTYPE[^<>\[]*>")
_COMMENT = rb"!--(?:[^-]|-[^-])*+-->"
_INSTRUCTION = rb"\?(?:[^?]|\?[^>])*+\?>"
_BACK = re.compile(rb"<back>[^<]*+(?:<(?:(?![!?]|/?back\b)|%s|%s)[^<]*+)*+</back>" % (_COMMENT, _INSTRUCTION))
_RESERVED = re.compile(rb"&#(?:0*64976|[xX]0*[fF][dD][dD]0);")
_PARSER = parser()


def parse(data: bytes, where: str) -> etree._Element:
    """Return the root of a PMC article without its document type, and with an empty `back`: no references."""
    # The document type is hidden from the parser; one with declarations is refused.
    plain = data
    head = data[: data.find(b"<article") + 1 or len(data)]
    if (start := head.find(b"<!DOCTYPE")) >= 0 or b"<!ENTITY" in head:
        doctype = _DOCTYPE.match(data, max(start, 0))
        if doctype is None or b"<!ENTITY" in head:
            raise PubmillError(f"{where}: {_DECLARES}")
        plain = data[:start] + b"\n" * doctype[0].count(b"\n") + data[doctype.end() :]
    if RESERVED in plain or _RESERVED.search(plain):
        raise PubmillError(f"{where}: holds U+FDD0, a noncharacter, which no text may hold")
    root = _without_back(plain)
    if root is None:
        try:
            root = etree.fromstring(plain, _PARSER)
        except etree.XMLSyntaxError as error:
            raise PubmillError(f"{where}:{error.lineno}: malformed XML: {fault(error)}") from None
    described = root.getroottree().docinfo
    if described.internalDTD is not None:
        raise PubmillError(f"{where}: {_DECLARES}")
    encoding = (described.encoding or "UTF-8").upper()
    if encoding not in ("UTF-8", "US-ASCII", "ASCII"):
        raise PubmillError(f"{where}: is encoded as {encoding}; PMC's articles are UTF-8")
    if root.tag != "article":
        raise PubmillError(f"{where}: its root is <{root.tag}>; expected <article>, JATS as PMC gives it")
    return root


def _without_back(data: bytes) -> etree._Element | None:
    """Return the root without its `back`, a third of an article and never text; None if that fails.

    An empty element replaces `back`. If that element is in the tree, the start tag was not in a comment or
    CDATA; and as neither another `back` nor CDATA precedes the end tag, both tags enclose one `back`.
    Malformed XML inside `back` therefore goes unnoticed: no other text depends on it, a download is checked
    by its md5, and a parser that only checks it would cost a sixth of the speed.
    """
    match = _BACK.search(data)
    if match is None:
        return None
    plain = b"".join((data[: match.start()], b"<cut-back/>", data[match.end() :]))
    try:
        root: etree._Element = etree.fromstring(plain, _PARSER)
    except etree.XMLSyntaxError:
        return None
    return root if root.find("cut-back") is not None else None
