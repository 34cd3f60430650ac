"""Specs of new datasets: files of the network, of this machine or of the hub as a file of specs/datasets."""

import json
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pubmill.convert.dataset import convert
from pubmill.convert.exports import publish
from pubmill.errors import PubmillError
from pubmill.examples.kind_facts import FACTS
from pubmill.formats.document_files import suffix_of
from pubmill.formats.row_files import READERS
from pubmill.messages import commands, installation
from pubmill.messages.quotations import withholding
from pubmill.new_specs.conll_forms import is_conll
from pubmill.new_specs.dataset_forms import OTHER_FILES, guess
from pubmill.new_specs.file_forms import NOTHING, ROWS, SPLITS, FileForm, Given, split_of
from pubmill.new_specs.row_forms import CONVERTER
from pubmill.new_specs.spec_files import ON_THE_HUB, spec_name, write_with_schema
from pubmill.recipes.datasets import Access, ConversionRecipe, PublishedFile, PublishedRecipe
from pubmill.recipes.problems import problem_text
from pubmill.specs import DatasetSpec
from pubmill.storage import sources
from pubmill.storage.files import read_jsonl_gz, sha256, writing
from pubmill.storage.privacy import LOCAL, PUBLIC
from pubmill.tables.cells import parse
from pubmill.tables.dataset_cards import Card, cautions

NOT_STATED = "not stated; find it out before you pass the data on"
ACCESS_IN_WORDS = {
    PUBLIC: "reports, exports and archives may have its text",
    LOCAL: "yours, not public: reports, archives and exports for others have counts and no text of it, the "
    "examples below are masked; --access public if everybody may have it",
}
"""Access class -> what it means, for the user."""
HUB = "https://huggingface.co"
DIVISIBLE = (*READERS, ".parquet")
"""Suffixes of files that may have the rows of all splits."""
TEXTS = ("text", "text_pair", "words", "question", "context", "answers", "sentences")
"""Fields of examples with text."""
_SHARD = re.compile(r"\d{5}-of-\d{5}")
_READ_ON_THE_HUB = re.compile(r"\.(tsv|txt|conll|jsonl|json|csv|parquet|xml|zip)$")


@dataclass(frozen=True)
class NewDataset:
    """A dataset to be described. `urls`: role -> address; empty for files of this machine, which are then in
    `folder`. `files`: role -> the file or its copy; the role is the split, `SPLIT_2` for a second file,
    or `rows` for a file with the rows of all splits. `copied`: what was copied for it, in words."""

    name: str
    files: dict[str, Path]
    access: Access = LOCAL
    urls: dict[str, str] = field(default_factory=dict)
    folder: Path | None = None
    copied: tuple[str, ...] = ()

    @property
    def sources(self) -> dict[str, dict[str, str]]:
        """The spec's sources, with their hashes."""
        if self.folder:
            named = {role: {"local": self.name, "file": path.name} for role, path in self.files.items()}
        else:
            named = {role: {"url": url} for role, url in self.urls.items()}
        return {role: {**one, "sha256": sha256(self.files[role])} for role, one in named.items()}

    def splits(self, form: FileForm) -> list[str]:
        """Return the splits of its files, or of the rows of its file."""
        named = form.options.get("split_values", {}).values() if ROWS in self.files else self.files
        return [split for split in SPLITS if split in named]


def new_dataset(
    given: Sequence[str],
    name: str | None,
    mirror: str | None,
    copies: Path,
    packed: Path = Path("data"),
    access: Access | None = None,
) -> NewDataset:
    """Return the dataset of the given files, a folder of them, or `hub:GROUP/NAME`. Remote files are
    downloaded, from their addresses or the mirror, into `copies`. If a folder has a subfolder for each split,
    the files of each subfolder are packed into one file below `packed`. `access`: who may have the files; by
    default those of this machine are `local`, and others public."""
    on_hub = ON_THE_HUB.fullmatch(given[0]) if len(given) == 1 else None
    if on_hub or all(one.startswith("https://") for one in given):
        name = name or spec_name(on_hub["id"] if on_hub else given[0].split("/")[-2], "dataset")
        urls = _hub_files(on_hub["id"], on_hub["revision"] or "main", mirror) if on_hub else _by_split(given)
        files = {split: copies / sources.name_in(url) for split, url in urls.items()}
        for split, url in urls.items():
            sources.download(url, files[split], mirror)
        return NewDataset(name, files, access or PUBLIC, urls)
    first = Path(given[0]).expanduser()
    if len(given) == 1 and (by_split := _split_folders(first)):
        name = name or spec_name(first.resolve().name, "dataset")
        archives = {split: _pack(one, packed / name, split) for split, one in by_split.items()}
        copied = tuple(f"{by_split[split]} to {path}" for split, path in archives.items())
        return NewDataset(name, archives, access or LOCAL, folder=packed / name, copied=copied)
    paths = [str(path) for one in given for path in _own_files(Path(one).expanduser())]
    files = {split: Path(path) for split, path in _by_split(paths).items()}
    folders = {path.parent.resolve() for path in files.values()}
    if len(folders) > 1:
        raise PubmillError(f"the files are in {len(folders)} folders; put them into one, which a study names")
    [folder] = folders
    return NewDataset(name or spec_name(folder.name, "dataset"), files, access or LOCAL, folder=folder)


def _split_folders(folder: Path) -> dict[str, Path]:
    """Return split -> folder of its files, where a folder has one for each split."""
    folders = [one for one in sorted(folder.iterdir()) if one.is_dir()] if folder.is_dir() else []
    if (folder / "dataset_dict.json").is_file():
        raise PubmillError(f"{folder}: {OTHER_FILES['.arrow']}")
    by_split = {split: one for one in folders if (split := split_of(one.name))}
    return {split: by_split[split] for split in SPLITS if split in by_split} if "train" in by_split else {}


def _pack(folder: Path, packed: Path, split: str) -> Path:
    """Write the files of a folder as one archive, or, if they are words with labels, joined with blank lines;
    return its path. The same files give the same bytes."""
    files = sorted(one for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
    if all(map(is_conll, files)):
        path = packed / f"{split}.conll"
        with writing(path) as temporary, temporary.open("wb") as joined:
            joined.writelines(file.read_bytes().rstrip(b"\r\n") + b"\n\n" for file in files)
        return path
    path = packed / f"{split}.zip"
    with writing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return path


def _own_files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder whose names contain a split: those directly in it, else at any
    depth; without any, its only file of rows."""
    if path.is_dir():
        inside = [sorted(path.iterdir()), sorted(path.rglob("*"))]
        named = [[one for one in files if one.is_file() and split_of(one.name)] for files in inside]
        only = [one for one in inside[0] if one.is_file() and suffix_of(one) in DIVISIBLE]
        yield from named[0] or named[1] or only[: len(only) == 1]
    elif path.is_file():
        yield path
    else:
        expected = "expected a file, a folder, https://..., or hub:GROUP/NAME"
        raise PubmillError(f"{path} does not exist; {expected}")


def _by_split(given: Sequence[str]) -> dict[str, str]:
    """Return split -> file, in the order of the splits; each split must occur once."""
    files: dict[str, str] = {}
    for one in given:
        file = one.rpartition("/")[2]
        split = split_of(file)
        if split is None and len(given) == 1 and suffix_of(Path(one)) in DIVISIBLE:
            return {ROWS: one}
        if split is None:
            fault = "the file's name shows no split (train, dev or valid, test)"
            raise PubmillError(f"{one}: {fault}; rename it")
        role = split
        if split in files and _SHARD.search(file) and _SHARD.search(files[split]):
            role = f"{split}_{1 + sum(name.partition('_')[0] == split for name in files)}"
        if role in files:
            raise PubmillError(f"{one}: {files[split]} is {split} too; give one file for each split")
        files[role] = one
    if "train" not in files:
        raise PubmillError(
            f"no file of {', '.join(given) or 'the folder'} is named train; each file holds one split and "
            "has its name (train, dev or valid, test) in its own; of many files, each split has a folder"
        )
    return {role: one for split in SPLITS for role, one in files.items() if role.partition("_")[0] == split}


def _hub_files(identifier: str, revision: str, mirror: str | None) -> dict[str, str]:
    """Return split -> address of the files of a dataset of the hub, at the commit that it has now."""
    page = "/".join((HUB, "api", "datasets", identifier, "revision", revision))
    try:
        answer = json.loads(sources.read(page, mirror))
        commit, names = str(answer["sha"]), [str(one["rfilename"]) for one in answer["siblings"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PubmillError(f"{page}: the hub's answer is not a list of a dataset's files") from None
    readable = [one for one in names if _READ_ON_THE_HUB.search(one) and split_of(one)]
    if not readable:
        raise PubmillError(f"hub:{identifier} has no train, dev or test file of a form that is read: {names}")
    # the files of the suffix that has the most splits; of Parquet only if no other has as many
    endings = sorted({one.rpartition(".")[2] for one in readable}, key=lambda one: (one == "parquet", one))
    by_ending = [[one for one in readable if one.endswith(f".{ending}")] for ending in endings]
    files = "/".join((HUB, "datasets", identifier, "resolve", commit))
    return _by_split(
        [f"{files}/{one}" for one in max(by_ending, key=lambda of_one: len({*map(split_of, of_one)}))]
    )


@dataclass(frozen=True)
class Described:
    """A described dataset: the values of its spec, its card, the first example of each split, and what is
    doubtful in it, a line each."""

    values: dict[str, Any]
    card: dict[str, Any]
    first: dict[str, dict[str, Any]]
    form: FileForm
    cautions: tuple[str, ...]

    def report(self, data: NewDataset) -> Iterator[str]:
        """Yield lines on what was found, was done, and is doubtful."""
        yield from (f"copied {one}; it is read from there from now on" for one in data.copied)
        yield f"{self.form.converter} reads it; licence: {self.values['licence']}"
        yield f"access: {data.access} ({ACCESS_IN_WORDS[data.access]})"
        yield from (f"--as {other} reads {what}" for other, what in self.form.others.items())
        if self.form.unread:
            yield f"not read (the options name the columns that are): {', '.join(self.form.unread)}"
        same = (
            "writes the bytes of these files" if "published" in self.values else "writes another form of them"
        )
        yield f"{commands.pubmill('export', data.name, '--to', 'FOLDER')} {same}"
        for split, counts in self.values["expect"].items():
            yield f"{split}: {', '.join(f'{measure} {n}' for measure, n in counts.items())}"
            yield f"  {json.dumps(self.first[split], ensure_ascii=False)[:300]}"
        yield from (f"warning: {one}" for one in (*self.form.notes, *self.cautions))


def describe(data: NewDataset, given: Given = NOTHING) -> Described:
    """Convert the dataset by the form of its files, and return its spec with the counts that were found.
    `given`: what the user says of the files, as in `guess`. Without public access the first examples are
    masked, and no message has text of the files."""
    is_private = data.access != PUBLIC
    with withholding(is_private, own=True):
        form = guess(data.files, given)
    shards = [path for role, path in data.files.items() if role not in (*SPLITS, ROWS)]
    if shards and not form.converter.startswith(CONVERTER):
        raise PubmillError(
            f"{shards[0]}: its split has two files, but of this form one is read for each split; move the "
            "files of each split into a folder of its name (train, dev or valid, test), or join them"
        )
    recipe = ConversionRecipe(
        dataset=data.name, kind=form.kind, access=data.access, splits=tuple(data.splits(form)),  # type: ignore[arg-type]
        converter=form.converter,
        options=form.options, expect={}, metric=form.metric, negative=form.negative, version=1,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        examples = Path(folder) / "examples"
        try:
            card = convert(recipe, data.files, examples)
        except PubmillError as error:
            guessed_from, *others = data.files.values()
            if not any(str(path) in str(error) for path in others):
                raise
            raise PubmillError(
                f"{error}\nThe form was guessed from {guessed_from}. If this file has another, write the "
                "spec by hand, with its options under the name of the split"
            ) from None
        first = {split: next(read_jsonl_gz(examples / f"{split}.jsonl.gz")) for split in data.splits(form)}
        for row in first.values() if is_private else ():
            row |= {name: masked(row[name]) for name in TEXTS if name in row}
        published = _published(data, form, examples, Path(folder) / "published")
    values = {
        "name": data.name, "label": data.name, "kind": form.kind, "task": form.task, "domain": "biomedical",
        "sources": data.sources, "splits": data.splits(form), "access": data.access, "licence": NOT_STATED,
        "citation": "counted in these files", "converter": form.converter, "options": form.options,
        "expect": {split: _counts(form.kind, counts) for split, counts in card["counts"].items()},
        "notes": list(form.notes), "published": published, "metric": form.metric,
        "negative": form.negative, "version": 1,
    }  # fmt: skip
    found = cautions(parse(Card, card, data.name))
    return Described({key: value for key, value in values.items() if value}, card, first, form, found)


def masked(value: Any) -> Any:
    """Return a text, or those in lists and objects, without words: letters become x or X, digits 0."""
    if isinstance(value, str):
        without_digits = re.sub(r"\d", "0", value)
        return re.sub(r"[^\W\d_]", lambda match: "X" if match[0].isupper() else "x", without_digits)
    if isinstance(value, list):
        return [masked(one) for one in value]
    return {key: masked(one) for key, one in value.items()} if isinstance(value, dict) else value


def _counts(kind: str, counts: Mapping[str, int | None]) -> dict[str, int]:
    """Return the counts that a spec expects, and what is left out."""
    expected = FACTS[kind].expected
    wanted = {name for name in counts if name in expected or f"{name.partition('.')[0]}." in expected}
    wanted |= {name for name, n in counts.items() if n and name.startswith("left_out.")}
    return {name: n for name, n in counts.items() if n is not None and name in wanted}


def _published(data: NewDataset, form: FileForm, examples: Path, output: Path) -> dict[str, object] | None:
    """Return the published form, if its writer gives the bytes of the files; else None."""
    if form.writer is None:
        return None
    writer, options = form.writer
    files = {split: PublishedFile(name=path.name, sha256=sha256(path)) for split, path in data.files.items()}
    recipe = PublishedRecipe(
        dataset=data.name, kind=form.kind, access=data.access, writer=writer, options=options,  # type: ignore[arg-type]
        dummies=None, files={split: replace(file, sha256=None) for split, file in files.items()},
    )  # fmt: skip
    written = publish(recipe, examples, output)
    if any(written[split]["sha256"] != file.sha256 for split, file in files.items()):
        return None
    shown = {split: asdict(file) for split, file in files.items()}
    return {"writer": writer, **({"options": options} if options else {}), "files": shown}


def write_dataset(data: NewDataset, described: Described, root: Path) -> Path:
    """Write the spec and return its path. An existing spec is never replaced."""
    spec = root / f"specs/datasets/{data.name}.yaml"
    if (installation.root() / spec).exists():
        raise PubmillError(f"{spec} exists; give the new dataset another name with --name")
    try:
        DatasetSpec.model_validate(described.values)
    except ValidationError as error:
        raise PubmillError(f"dataset {data.name}: {problem_text(error.errors()[0])}") from None
    values = json.loads(json.dumps(described.values))  # a repeated value would become an alias (`*id001`)
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=110)
    write_with_schema(spec, "datasets", text)
    return spec
