"""Outputs that are whole or absent: written under a temporary name, renamed when complete."""

import errno
import fcntl
import glob
import gzip
import hashlib
import json
import os
import shutil
import socket
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pubmill import privacy
from pubmill.errors import PubmillError


def temporary_name(path: Path) -> Path:
    """A name beside `path` for this process alone; what killed processes left there is removed.

    The caller removes it; `writing` and `writing_folder` do.
    """
    host = socket.gethostname()
    for left in path.parent.glob(f".{glob.escape(path.name)}.{glob.escape(host)}.*.tmp"):
        if not _alive(int(left.name.split(".")[-2])):
            _remove(left)
    return path.with_name(f".{path.name}.{host}.{os.getpid()}.tmp")


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _explain(error: OSError, path: Path) -> PubmillError:
    """A write error in words; errors that the person can't act on keep the system's own text."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PubmillError(
            f"no space left on the disk while writing {path}. Nothing was left half-written; "
            f"free some space (or point `results:` at another disk) and run the same command again."
        )
    return PubmillError(f"cannot write {path}: {error}")


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block ends without an error.

    An operating-system error inside the block (a full disk, no permission) is raised as a
    `PubmillError`; whatever was half-written is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        _remove(temporary)
        raise _explain(error, path) from error
    except BaseException:
        _remove(temporary)
        raise


@contextmanager
def writing_folder(path: Path) -> Iterator[Path]:
    """Like `writing`, for a folder; an older folder at `path` is replaced.

    Weights get the mode that any new file gets: safetensors makes files for their owner alone, and colleagues
    could not read them. Of licensed data, the folder gets their label (`pubmill.privacy`).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    try:
        temporary.mkdir()
        yield temporary
        usual = temporary.stat().st_mode & 0o666  # as the umask has it
        for weights in temporary.rglob("*.safetensors"):
            weights.chmod(usual)
        privacy.write_label(temporary)
        _remove(path)
        os.replace(temporary, path)
    except OSError as error:
        _remove(temporary)
        raise _explain(error, path) from error
    except BaseException:
        _remove(temporary)
        raise


def lock(path: Path) -> IO[str]:
    """Hold a lock file until the returned file is closed or the process ends, however it ends.

    Unlike a file whose mere existence is the lock, it never outlives a killed process. A
    `PubmillError` tells that another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        held = path.open("a+")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held.close()
            raise PubmillError(
                f"another process is at work here and holds {path}. Wait until it has ended, or end it; "
                f"then run the same command again."
            ) from None
        if _names(path, held):
            return held
        held.close()  # `locked` removed the file between opening and locking


def _names(path: Path, held: IO[str]) -> bool:
    """Whether `path` is still the name of the open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(held.fileno()))
    except FileNotFoundError:
        return False


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file while the block runs, and remove it."""
    held = lock(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        held.close()


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with sorted keys, so that equal values give equal bytes."""
    with writing(path) as temporary:
        text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read one JSON file; a `PubmillError` names the file and the line where it is malformed."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except json.JSONDecodeError as error:
        raise PubmillError(f"{path}:{error.lineno}: not valid JSON: {error.msg}") from None


def make_private(path: Path) -> None:
    """Make an empty file that its owner alone may read, before anything is written into it."""
    path.unlink(missing_ok=True)  # an older file would keep its own mode
    path.touch(mode=0o600)


def write_jsonl_gz(path: Path, rows: Iterable[dict[str, Any]], private: bool = False) -> None:
    """Write one JSON object a line, gzipped with no time stamp: equal rows give equal bytes.

    Only its owner may read a `private` file, from its first byte on. Of licensed data, the header has their
    label (`pubmill.privacy`).
    """
    with writing(path) as temporary:
        if private:
            make_private(temporary)
        with (
            temporary.open("wb") as raw,
            gzip.GzipFile(
                filename=privacy.gzip_name(), fileobj=raw, mode="wb", compresslevel=6, mtime=0
            ) as packed,
        ):
            for row in rows:
                packed.write((json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n").encode())


def read_jsonl_gz(path: Path) -> Iterator[dict[str, Any]]:
    """Read gzipped JSON lines; errors name the file and the line."""
    number = 0
    try:
        if not path.stat().st_size:  # to Python's gzip, a file cut to nothing is a whole one
            raise EOFError("it is empty")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007 (the errors below name it)
                yield json.loads(line)
    except json.JSONDecodeError as error:
        raise PubmillError(f"{path}:{number}: not valid JSON: {error.msg}") from None
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise PubmillError(f"{path}: broken after line {number}: {error}") from None
    except (RecursionError, ValueError):
        raise PubmillError(f"{path}:{number}: nested too deeply, or a number too long, to be read") from None


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
