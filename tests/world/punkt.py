"""NLTK's Punkt parameters for English in their tabular form, with a small content of our own."""

import io
import zipfile

PATH = "raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"
_FILES = {
    "abbrev_types.txt": "al\ncf\ndr\ne.g\net al\nfig\ni.e\nno\nvs",
    "collocations.tab": "##number##\tmg\n##number##\tpatients",
    "ortho_context.tab": "and\t32\ncells\t32\nin\t34\npatients\t34\nthe\t34\nwas\t32",
    "sent_starters.txt": "here\nin\nour\nthe\nthese\nwe",
}


def punkt_zip() -> bytes:
    """The archive; stored, not deflated, and without dates, so that its bytes are always the same."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, text in _FILES.items():
            entry = zipfile.ZipInfo(f"punkt_tab/english/{name}", (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    return packed.getvalue()
