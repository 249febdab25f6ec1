"""The file format of filters and results: arrays and a description, in a zip file.

Each array is a member ``<name>.npy``, as in the files of ``numpy.savez``; ``numpy.load`` opens the
file.  The member ``skh.json`` has

- ``kind``: what the file holds,
- ``format``: the version of this format, an integer, and ``skh``, the version that wrote it,
- ``content``: a tree of JSON values that refers to the arrays by name (see `trees`),
- ``checksum``: the SHA-256 of the rest, in hexadecimal: of the description without its checksum (as
  compact JSON with sorted keys), then of the name and the bytes of each array in order of names.

Nothing in it is a pickle, and reading it runs no code from it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skh.files.atomic import as_path, replace_file

FORMAT = 1  # raised when older versions cannot read what is written
DESCRIPTION = "skh.json"
OLDEST_DATE = (1980, 1, 1, 0, 0, 0)  # of a zip member: equal content gives equal bytes
READERS = {  # how to read what is in a file
    "filter": "skh.ParticleFilter.load(path, model)",
    "result": "skh.load_result(path)",
    "fit": "skh.fit(make_model, ys, start, ..., file=path)",
    "checkpoint": "skh.particle_filter(model, ys, ..., checkpoint=path)",
}


class SavedFileError(ValueError):
    """A saved file is damaged, of another kind or model, or newer than this version.

    >>> import skh
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "run.npz"
    ...     _ = path.write_text("no result")
    ...     try:
    ...         skh.load_result(path)
    ...     except skh.SavedFileError as error:
    ...         print(str(error).replace(str(path.resolve()), "run.npz"))
    run.npz is damaged or was not written by skh: File is not a zip file
    """


class Contents(NamedTuple):
    """The content of a file, its arrays, the file and the version of skh that wrote it."""

    tree: Any
    arrays: dict[str, NDArray[Any]]
    path: Path
    version: str


def write_file(path: Any, kind: str, tree: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file; an earlier one of this name is replaced as a whole or not at all."""
    path, members = as_path("path", path), {name: _npy(name, a) for name, a in arrays.items()}
    about = {"kind": kind, "format": FORMAT, "skh": _version(), "content": tree}
    about["checksum"] = _checksum(about, members)

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(_member(DESCRIPTION), json.dumps(about, indent=None))
            for name, data in members.items():
                archive.writestr(_member(f"{name}.npy"), data)

    replace_file(path, write)


def read_file(path: Any, kind: str) -> Contents:
    """Read a file of this kind; raise `SavedFileError` for any other."""
    path = as_path("path", path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        about, members = _members(path)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, NotImplementedError) as error:
        raise damaged(path, error) from error
    except (RuntimeError, OverflowError, MemoryError) as error:  # flags and sizes by chance
        raise damaged(path, error) from error
    _refuse_other(path, about, kind)
    if _checksum(about, members) != about.get("checksum"):
        raise damaged(path, "its checksum does not fit its content")
    try:
        arrays = {name: _array(data) for name, data in members.items()}
    except (ValueError, EOFError) as error:
        raise damaged(path, error) from error
    return Contents(about["content"], arrays, path, str(about["skh"]))


def damaged(path: Path, reason: object) -> SavedFileError:
    """Return the error for a file that cannot be read."""
    reason = str(reason).replace(str(path), path.name)
    return SavedFileError(f"{path} is damaged or was not written by skh: {reason}")


def _members(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the description and the bytes of the arrays; zip checks the CRC of each."""
    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read(DESCRIPTION))
        names = [name for name in archive.namelist() if name != DESCRIPTION]
        members = {name.removesuffix(".npy"): archive.read(name) for name in names}
    if not isinstance(about, dict) or not {"kind", "format", "skh", "content"} <= about.keys():
        raise ValueError(f"{DESCRIPTION} does not describe a file of skh")
    return about, members


def _refuse_other(path: Path, about: dict[str, Any], kind: str) -> None:
    """Raise `SavedFileError` for a file of a newer format or another kind."""
    if not isinstance(about["format"], int) or about["format"] > FORMAT:
        raise SavedFileError(
            f"{path} was written by skh {about['skh']} in format {about['format']}, and this is "
            f"skh {_version()}, which reads up to format {FORMAT}: use a newer version of skh"
        )
    if about["kind"] != kind:
        reader = READERS.get(about["kind"])
        advice = f": read it with {reader}" if reader else ""
        raise SavedFileError(f"{path} holds a {about['kind']}, not a {kind}{advice}")


def _checksum(about: Mapping[str, Any], members: Mapping[str, bytes]) -> str:
    rest = {key: value for key, value in about.items() if key != "checksum"}
    checksum = sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())
    for name in sorted(members):
        checksum.update(name.encode())
        checksum.update(members[name])
    return checksum.hexdigest()


def _npy(name: str, array: NDArray[Any]) -> bytes:
    """Return an array as the bytes of an .npy file."""
    buffer = BytesIO()
    try:
        np.lib.format.write_array(buffer, array, allow_pickle=False)
    except ValueError as error:
        raise TypeError(
            f"{name} must be an array of numbers, texts or dates to be saved, got an array of "
            f"{array.dtype}"
        ) from error
    return buffer.getvalue()


def _array(data: bytes) -> NDArray[Any]:
    return np.asarray(np.lib.format.read_array(BytesIO(data), allow_pickle=False))


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, OLDEST_DATE)
    info.external_attr = 0o644 << 16  # readable after unzip
    return info


def _version() -> str:
    import skh  # complete by now, unlike when this module is imported

    return skh.__version__
