"""The source of clinical notes: MIMIC-III."""

from typing import Literal

from pubmill.specs.spec_types import Https, LocalKey, Name, Strict


class MimicSource(Strict):
    """The notes of MIMIC-III, for users with access: `file` in the folder that the configuration's
    `local_files.KEY` names.

    `brackets`: de-identified places such as `[**Hospital1 18**]` are kept, or normalised to the word for what
    they replace (`hospital`).

    - `name`: the source's name in `selections` and in counts.
    - `kind`: `mimic`.
    - `local`: the key of the folder in `local_files`.
    - `access`: `credentialed`.
    - `apply`: the page to apply at.
    - `file`: the file's name there.
    """

    name: Name
    kind: Literal["mimic"]
    local: LocalKey
    file: Literal["NOTEEVENTS.csv.gz", "NOTEEVENTS.csv"] = "NOTEEVENTS.csv.gz"
    access: Literal["credentialed"]
    apply: Https
    brackets: Literal["keep", "normalise"] = "keep"
