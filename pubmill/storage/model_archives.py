"""Model folders in archives."""

from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pubmill.errors import PubmillError
from pubmill.storage.archives import WEIGHTS, members
from pubmill.storage.model_folders import CONFIG, COPIED, PICKLED
from pubmill.storage.name_patterns import FILE, fits


def unpack_model(archive: Path, output: Path) -> None:
    """Unpack the model folder of an archive, at any depth in it, as the folder `output`.

    Only a folder's own files with the names of weights and texts are unpacked. Paths in the archive only tell
    its folders apart and are never paths of files that are written. Raises a `PubmillError` for a damaged
    archive, and unless exactly one of its folders has a config.json.
    """
    names = [*COPIED, PICKLED]
    folders: dict[str, Path] = {}
    models: list[str] = []
    for path, content in members(archive, WEIGHTS):
        inside, name = str(PurePosixPath(path).parent), PurePosixPath(path).name
        if fits(FILE, name) and any(fnmatchcase(name, pattern) for pattern in names):
            folder = folders.setdefault(inside, output.with_name(f"{output.name}.{len(folders)}"))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
            models += [inside] if name == CONFIG else []
    if len(models) != 1:
        found = ", ".join(sorted(models)) or "none"
        raise PubmillError(
            f"{archive}: expected one folder with a {CONFIG}, found {found}; is it a model in the form of "
            f"Transformers? Checkpoints of fairseq, TensorFlow, Megatron and NeMo are not read here"
        )
    folders[models[0]].rename(output)
