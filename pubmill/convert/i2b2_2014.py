"""Converter of the i2b2/UTHealth 2014 de-identification corpus to tokens examples.

Sources: `train_set1`, `train_set2` and `test` (the PHI gold archives), with a file `PATIENT-RECORD.xml`
for each record. `i2b2_xml` describes the form and its irregularities. dev is a part of train by patients,
so that no patient is in both (as in ClinicalBERT and bio-lm).
"""

import re
from collections.abc import Iterator

from pubmill.convert import i2b2_xml
from pubmill.convert.source_files import ConverterInput
from pubmill.examples.kinds import TokensExample

CATEGORIES = ("NAME", "PROFESSION", "LOCATION", "AGE", "DATE", "CONTACT", "ID", "OTHER", "PHI")
"""Names of the annotations. `PHI` is used for some annotations of all types; only their type is reliable."""
TYPES = frozenset(
    "PATIENT DOCTOR USERNAME PROFESSION ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP "
    "LOCATION-OTHER AGE DATE PHONE FAX EMAIL URL IPADDRESS SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE "
    "VEHICLE DEVICE BIOID IDNUM OTHER".split()
)
"""The types of the annotation guidelines (Stubbs and Uzuner 2015); 23 of them occur."""
_NAME = re.compile(r"([0-9]+-[0-9]+)\.xml")


def read(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield the examples of one split; options: `dev` (`held_out`) and `differing` (`i2b2_xml`)."""
    source.check_options("dev", "differing")
    notes: dict[str, i2b2_xml.Note] = {}
    for role in ("test",) if source.split == "test" else ("train_set1", "train_set2"):
        notes |= i2b2_xml.notes(source.input(role), _NAME)
    known = i2b2_xml.Tags(dict.fromkeys(CATEGORIES, TYPES), frozenset(), "TYPE", untyped=False)
    yield from i2b2_xml.examples(source, notes, known, group=lambda document: document.partition("-")[0])
