"""The source of clinical notes."""

from typing import Annotated, Literal

from pydantic import Field

from pubmill.specs.base import Https, Name, Strict


class MimicSource(Strict):
    """The notes of MIMIC-III, for those who were granted access: `file` in the folder that the
    configuration's `local_files.KEY` names.

    `brackets`: what becomes of de-identified places such as `[**Hospital1 18**]`: kept, or normalised to
    what they stand for in words (`hospital`).
    """

    name: Name
    kind: Literal["mimic"]
    local: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")]
    file: Literal["NOTEEVENTS.csv.gz", "NOTEEVENTS.csv"] = "NOTEEVENTS.csv.gz"
    access: Literal["credentialed"]
    apply: Https
    brackets: Literal["keep", "normalise"] = "keep"
