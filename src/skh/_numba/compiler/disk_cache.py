"""Compiled kernels on disk, where a failure costs time but never a result.

Containers often have no writable folder, disks fill up, and files are cut short.  In each case the
kernels are compiled again, and one warning per process says what to do.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.runtime.nrt import rtsys

from skh._numba.compiler.machine_code import all_called, large_calls, load

NO_FOLDER = (
    "skh found no writable folder for its compiled kernels, so every process compiles them again "
    "(up to half a minute): set the environment variable NUMBA_CACHE_DIR to a writable folder"
)
UNREADABLE = (
    "skh could not read a compiled kernel in {folder} ({error}) and compiles it again: delete the "
    "*.nbi and *.nbc files of that folder if this is repeated"
)
NOT_SAVED = (
    "skh could not save a compiled kernel in {folder} ({error}), so the next process compiles it "
    "again: free space there, or set the environment variable NUMBA_CACHE_DIR to another folder"
)

_warned: set[str] = set()


@cache
def _digest_of_kernels() -> bytes:
    """Digest of the source of all kernels here: any of them may be called by any other."""
    digest = sha256()
    for path in sorted(Path(__file__).parent.parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


class WithLargeKernels(CompileResultCacheImpl):
    """Saves the code of a kernel with that of the large ones that it calls."""

    def reduce(self, result: Any) -> Any:
        """Return what is saved."""
        return all_called(large_calls(result.library)), super().reduce(result)

    def rebuild(self, target_context: Any, saved: Any) -> Any:
        """Return the kernel that was saved."""
        called, own = saved
        load(called, target_context.codegen())
        return super().rebuild(target_context, own)


class Files(FunctionCache):
    """The files of one kernel."""

    _impl_class = WithLargeKernels

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = self._cache_file._source_stamp, _digest_of_kernels()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a kernel.

        Unlike numba's method it does not import what only a compiler needs, `scipy.linalg` for
        example: two fifths of the time of a first call.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def delete_index(self) -> None:
        """Forget all code.

        numba writes the index first: after a failure it may name code of another source.
        """
        with suppress(OSError):
            Path(self._cache_file._index_path).unlink()


class KernelCache(NullCache):
    """The files of one kernel, looked for at its first use; after a failure it is compiled again.

    Importing the library makes hundreds of kernels, and finding a folder writes a file to try it.
    """

    def __init__(self, function: Any) -> None:
        self._function = function

    @cached_property
    def _files(self) -> Any:
        try:
            return Files(self._function)
        except (OSError, RuntimeError):  # numba found no folder
            _warn_once(NO_FOLDER)
            return NullCache()

    @property
    def cache_path(self) -> str | None:
        """The folder of the files."""
        return self._files.cache_path  # type: ignore[no-any-return]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a kernel, or return None where no file can be read."""
        try:
            return self._files.load_overload(sig, target_context)
        except Exception as error:  # a damaged pickle raises almost anything
            self._files.delete_index()
            _warn_once(UNREADABLE, self.cache_path, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a kernel, if possible."""
        try:
            self._files.save_overload(sig, data)
        except Exception as error:
            self._files.delete_index()
            _warn_once(NOT_SAVED, self.cache_path, error)


def cached_on_disk(kernel: Any) -> Any:
    """Let a kernel load and save its compiled code, if there is a folder for it."""
    kernel._cache = KernelCache(kernel.py_func)
    return kernel


def _warn_once(sentence: str, folder: Any = None, error: Exception | None = None) -> None:
    if sentence not in _warned:
        _warned.add(sentence)
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(sentence.format(folder=folder, error=reason), RuntimeWarning, stacklevel=3)
