"""Files in a folder, or below a URL that fsspec can open."""

from collections.abc import Iterator
from contextlib import contextmanager

import fsspec
from fsspec.implementations.local import LocalFileSystem

from ..errors import InputError


def open_files(url: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """The file system of a URL, and the path in it. Listings are not kept: workers write files meanwhile.

    Raises InputError if no file system of fsspec serves the URL.
    """
    try:
        files, root = fsspec.url_to_fs(url, use_listings_cache=False)
    except (ImportError, ValueError) as error:
        raise InputError(f"{url}: {error}; expected a folder or a URL that fsspec can open") from error
    return files, root.rstrip("/")


def is_local(files: fsspec.AbstractFileSystem) -> bool:
    """Whether the files are on this machine, or mounted."""
    return isinstance(files, LocalFileSystem)


@contextmanager
def as_os_errors(files: fsspec.AbstractFileSystem, url: str) -> Iterator[None]:
    """Raises as OSError what goes wrong with files elsewhere: the libraries of object stores have errors of their own."""
    try:
        yield
    except (OSError, InputError):
        raise
    except Exception as error:
        if is_local(files):
            raise
        raise OSError(f"{url}: {error}") from error
