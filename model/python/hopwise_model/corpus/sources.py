"""The recordings of a corpus: files in a folder, or below a URL that fsspec can open."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from tempfile import NamedTemporaryFile

from ..errors import InputError
from .files import as_os_errors, is_local, open_files

SUFFIXES = (".har", ".har.gz", ".json", ".json.gz")


@dataclass(frozen=True, order=True)
class Source:
    """A recording. `name` is its path below the corpus; `version` differs when the file does."""

    name: str
    version: str


class SourceFolder:
    """A folder or URL with recordings. `url` means the same in every process."""

    def __init__(self, url: str):
        """Raises InputError if no file system of fsspec serves the URL."""
        self._files, self._root = open_files(url)
        self._is_local = is_local(self._files)
        self.url = self._files.unstrip_protocol(self._root) if self._is_local else url
        self._shown = self._root if self._is_local else url

    def list_sources(self) -> list[Source]:
        """All recordings below, by name.

        Raises InputError if the folder does not exist or has none.
        """
        try:
            with as_os_errors(self._files, self._shown):
                found = self._files.find(self._root, detail=True)
                # File systems find nothing below a folder that is not there, and in a file the file itself.
                if not found and not self._files.exists(self._root):
                    raise InputError(f"{self._shown}: expected a folder of recordings, but there is none")
                if list(found) == [self._root]:
                    raise InputError(f"{self._shown}: expected a folder of recordings, but it is a file")
        except OSError as error:
            what = str(error).removeprefix(f"{self._shown}: ")
            raise InputError(f"{self._shown}: {what}; expected a folder of recordings") from error
        sources = sorted(
            Source(str(PurePosixPath(path).relative_to(self._root)), _version(details))
            for path, details in found.items()
            if path.endswith(SUFFIXES) and path != self._root
        )
        if not sources:
            raise InputError(f"{self._shown}: expected files that end in {', '.join(SUFFIXES)}, found none")
        return sources

    @contextmanager
    def open_local(self, name: str) -> Iterator[str]:
        """Path of the recording on this machine: a copy where the file is elsewhere.

        Raises OSError if it cannot be read.
        """
        path = f"{self._root}/{name}"
        if self._is_local:
            yield path
            return
        with NamedTemporaryFile(prefix="hopwise-", suffix=".har") as copy:
            with as_os_errors(self._files, path):
                self._files.get_file(path, copy.name)
            yield copy.name


def _version(details: dict) -> str:
    """File systems name the time of change, or the object's version, differently."""
    marks = ("size", "mtime", "ETag", "etag", "md5Hash", "LastModified", "last_modified", "updated")
    return " ".join(f"{mark}={details[mark]}" for mark in marks if details.get(mark) is not None)
