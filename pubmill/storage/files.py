"""Atomic writes: outputs are complete or absent, written under a temporary name, synced and renamed."""

import errno
import glob
import gzip
import hashlib
import json
import os
import re
import shutil
import socket
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.storage import privacy

TEMPORARY = re.compile(r"\..+\.\d+\.tmp|.+\.part")
"""Names of unfinished files and folders; the content of such a folder is synced together with the folder."""
SEAL = "content_sha256"
"""Key of a JSON object that holds the digest of all other keys."""
REMAKE = (
    f"`{commands.pubmill('doctor', 'fsck')}` finds all such files and prints commands that make them again."
)
"""Advice in messages about damaged and missing files."""
COMPRESSION = 6
"""Level of gzip."""


def temporary_name(path: Path) -> Path:
    """Return a name beside `path` that only this process uses; remove leftovers of killed processes. The
    caller must remove the file; `writing` and `writing_folder` do so."""
    host = socket.gethostname()
    for left in path.parent.glob(f".{glob.escape(path.name)}.{glob.escape(host)}.*.tmp"):
        try:
            os.kill(int(left.name.split(".")[-2]), 0)
        except ProcessLookupError:
            _remove_path(left)
        except OSError:  # the process is another user's
            continue
    return path.with_name(f".{path.name}.{host}.{os.getpid()}.tmp")


def _remove_path(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _explain_write_error(error: Exception, path: Path) -> Exception:
    """Return a write error as a `PubmillError` that explains it; return any other error unchanged.
    safetensors, DuckDB and others raise their own errors, which quote the system's message."""
    if any(os.strerror(number) in str(error) for number in (errno.ENOSPC, errno.EDQUOT)):
        return PubmillError(
            f"no space left on the disk while writing {path}. Nothing was left half-written; "
            f"free some space (or point `results:` at another disk) and run the same command again."
        )
    if not isinstance(error, OSError):
        return error
    if error.errno is None:  # of a library that reads, such as Arrow and gzip
        return PubmillError(
            f"{path} was not written, because an input cannot be read: {error}. "
            f"`{commands.pubmill('doctor', 'fsck')}` finds all damaged results"
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return PubmillError(
            f"cannot write {path}: {error.strerror}. Make its folder writable, or point `results:` (or the "
            f"program's output) at a folder that is."
        )
    a_file = error.errno in (errno.EEXIST, errno.ENOTDIR)
    fault = f"{path.parent} is not a folder" if a_file else error.strerror or error
    return PubmillError(f"cannot write {path}: {fault}")


def _sync(path: Path) -> None:
    """Wait until a file's content, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # not every file system syncs folders
            raise
    finally:
        os.close(descriptor)


def _rename(temporary: Path, path: Path) -> None:
    """Give a file or folder its final name; both survive a power cut, unless a parent folder is temporary. An
    existing folder is first moved to the place where `recover` looks for it."""
    durable = not any(map(TEMPORARY.fullmatch, path.absolute().parts))
    if durable and not temporary.is_dir():
        _sync(temporary)
    elif durable:  # all files below the folder, then the folders, innermost first
        for inner, _, names in os.walk(temporary, topdown=False):
            for file in (Path(inner, name) for name in names):
                if file.is_file() and not file.is_symlink():
                    _sync(file)
            _sync(Path(inner))
    if temporary.is_dir() and os.path.lexists(path):
        os.replace(path, _replaced_path(path))
    os.replace(temporary, path)
    if durable:
        _sync(path.parent)


def _replaced_path(path: Path) -> Path:
    """Return the path of an older folder while the new one takes its name."""
    return path.with_name(f".{path.name}.replaced")


def recover(path: Path) -> None:
    """Finish an interrupted replacement: remove the older folder if the new one exists, else restore it."""
    if not os.path.lexists(_replaced_path(path)):
        return
    if os.path.lexists(path):
        temporary = temporary_name(path)
        os.replace(_replaced_path(path), temporary)  # so a half-deleted folder is never renamed back
        _remove_path(temporary)
    else:
        os.replace(_replaced_path(path), path)
        _sync(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents; their names survive a power cut."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place in missing:
        _sync(place.parent)


@contextmanager
def _explained_writing(path: Path, temporary: Path) -> Iterator[None]:
    """If the block fails, remove the incomplete output and raise write errors as `PubmillError`."""
    try:
        yield
    except Exception as error:
        with suppress(OSError):  # a read-only disk allows no removal
            _remove_path(temporary)
        explained = _explain_write_error(error, path)
        if explained is error:
            raise
        raise explained from error
    except BaseException:
        _remove_path(temporary)
        raise


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block ends without an error. The file
    is synced before it is renamed, and its new name before this returns. An operating-system error (a full
    disk, no permission) is raised as a `PubmillError`; an incomplete file is removed."""
    temporary = temporary_name(path)
    with _explained_writing(path, temporary):
        make_folder(path.parent)
        yield temporary
        _rename(temporary, path)


@contextmanager
def writing_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder, as `writing` does for files; an older folder at `path` is replaced. A folder
    that its user moved to another disk and linked is replaced there, and the link stays.

    If the process is killed while it replaces the older folder, `recover` (also the next `writing_folder`)
    restores that one.

    Weights get the mode of any new file: safetensors makes files that only their owner can read, so
    colleagues could not. A folder made from licensed data gets their label (`pubmill.storage.privacy`).
    """
    path = path.resolve() if path.is_symlink() else path
    temporary = temporary_name(path)
    with _explained_writing(path, temporary):
        make_folder(path.parent)
        recover(path)
        temporary.mkdir()
        yield temporary
        mode = temporary.stat().st_mode & 0o666  # follows the umask
        for weights in temporary.rglob("*.safetensors"):
            weights.chmod(mode)
        privacy.write_label(temporary / privacy.LABEL)
        try:
            _rename(temporary, path)
        finally:
            recover(path)


class LockHeldError(PubmillError):
    """Another process holds a lock."""


NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Error numbers of file systems without locks."""


def lock(path: Path) -> FileLock:
    """Acquire a lock file and return the lock, held until `release` is called or the process ends in any way.
    A file left by a killed process locks nothing. Raises `LockHeldError` if another process has the lock."""
    held = FileLock(path, blocking=False, thread_local=False, fallback_to_soft=False)
    try:
        make_folder(path.parent)
        held.acquire()
    except Timeout:
        raise LockHeldError(
            f"another process is at work here and holds {path}. Wait until it has ended, or stop it; "
            f"then run the same command again."
        ) from None
    except OSError as error:
        if error.errno in NO_LOCKS:
            raise PubmillError(
                f"{path.parent} is on a file system without file locks ({error.strerror}), which keep two "
                f"processes from writing the same files. Mount it with locks (NFS: a running lockd or "
                f"local_lock=flock; Lustre: flock), or point `results:` at another disk."
            ) from None
        raise _explain_write_error(error, path) from error
    return held


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file while the block runs, then remove it."""
    held = lock(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # before the release: a process that has opened it finds it unlinked
        held.release()


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with sorted keys, so that equal values give equal bytes."""
    with writing(path) as temporary:
        text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read one JSON file; a `PubmillError` names the file, and the line where it is malformed. A sealed
    object must match its digest, which is left out of the returned value."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist") from None
    except json.JSONDecodeError as error:
        raise PubmillError(f"{path}:{error.lineno}: not valid JSON: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:  # ValueError: a number too long
        raise PubmillError(f"{path}: not valid JSON: {error}") from None
    if isinstance(value, dict) and SEAL in value and value.pop(SEAL) != _json_digest(value):
        raise PubmillError(f"{path} is damaged: it does not agree with its {SEAL}. {REMAKE}")
    return value


def sealed(value: Mapping[str, object]) -> dict[str, object]:
    """Return a JSON object with the SHA-256 of its keys and values added, which `read_json` checks."""
    return {**value, SEAL: _json_digest(json.loads(json.dumps(value)))}


def _json_digest(value: Mapping[str, object]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may read, before anything is written into it."""
    path.unlink(missing_ok=True)  # an older file would keep its own mode
    path.touch(mode=0o600)


def write_jsonl_gz(path: Path, rows: Iterable[Mapping[str, object]], private: bool = False) -> None:
    """Write one JSON object per line, gzipped without a time stamp: equal rows give equal bytes. Only its
    owner may read a `private` file, from its first byte on. The header of licensed data holds their label."""
    with writing(path) as temporary:
        if private:
            make_private(temporary)
        with (
            temporary.open("wb") as raw,
            gzip.GzipFile(
                filename=privacy.gzip_name(), fileobj=raw, mode="wb", compresslevel=COMPRESSION, mtime=0
            ) as packed,
        ):
            for row in rows:
                packed.write((json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n").encode())


def read_jsonl_gz(path: Path) -> Iterator[dict[str, Any]]:
    """Read gzipped JSON lines; errors name the file and the line."""
    number = 0
    try:
        if not path.stat().st_size:  # Python's gzip accepts an empty file as complete
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
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def kept_sha256(path: Path) -> str:
    """Return `sha256(path)`; each process reads a file only once for this, unless the file changes."""
    state = path.stat()
    return _sha256_of_state(path, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


@cache
def _sha256_of_state(path: Path, *state: int) -> str:
    return sha256(path)
