"""The source of clinical notes."""

from typing import Literal

from pubmill.specs.base import Https, LocalKey, Name, Strict


class MimicSource(Strict):
    """The notes of MIMIC-III, for those who were granted access: `file` in the folder that the
    configuration's `local_files.KEY` names.

    `brackets`: what becomes of de-identified places such as `[**Hospital1 18**]`: kept, or normalised to
    what they stand for in words (`hospital`).
    """

    name: Name
    kind: Literal["mimic"]
    local: LocalKey
    file: Literal["NOTEEVENTS.csv.gz", "NOTEEVENTS.csv"] = "NOTEEVENTS.csv.gz"
    access: Literal["credentialed"]
    apply: Https
    brackets: Literal["keep", "normalise"] = "keep"
