"""Batches: the unit of work, of resuming, and of loss when a worker dies."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from .emulator import emulator_of_thread
from .files import as_os_errors, open_files
from .rows import PAGES, make_row
from .sources import Source, SourceFolder

# A batch ends behind a name whose hash is a multiple of this: a new file changes the batch that it falls in, not those after it.
MEAN_SIZE = 16
MAX_SIZE = 64


@dataclass(frozen=True)
class Batch:
    """Recordings that follow each other by name. `key` changes when a name, a file or a setting does."""

    key: str
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Settings:
    """What the answers depend on, besides the recordings."""

    url: str
    flags: tuple[str, ...]
    advise: bool
    program: str


def split_batches(sources: Iterable[Source], settings: Settings) -> list[Batch]:
    """Batches in order of names."""
    batches, current = [], []
    for source in sources:
        current.append(source)
        if _hash(source.name) % MEAN_SIZE == 0 or len(current) == MAX_SIZE:
            batches.append(_make_batch(current, settings))
            current = []
    if current:
        batches.append(_make_batch(current, settings))
    return batches


def _make_batch(sources: list[Source], settings: Settings) -> Batch:
    text = json.dumps([vars(settings), [[source.name, source.version] for source in sources]])
    return Batch(hashlib.sha256(text.encode()).hexdigest()[:32], tuple(sources))


def _hash(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def predict_batch(batch: Batch, settings: Settings, command: list[str], parts: str) -> dict[str, int]:
    """Predicts a batch, and writes its part in one step: a part exists whole or not at all.

    Runs on a worker; what it does twice, after another worker has died, replaces the first.
    """
    emulator = emulator_of_thread(command, list(settings.flags))
    folder = SourceFolder(settings.url)
    rows = []
    for source in batch.sources:
        try:
            with folder.open_local(source.name) as path:
                answer = emulator.ask(source.name, path, settings.advise)
        except OSError as error:
            answer = {"error": f"cannot be read: {error}"}
        rows.append(make_row(source.name, answer))
    write_part(parts, batch.key, pa.Table.from_pylist(rows, schema=PAGES))
    return {"recordings": len(rows), "errors": sum("error" in row for row in rows)}


def write_part(parts: str, key: str, table: pa.Table) -> None:
    """Writes beside the final name, then renames. Two workers may write one batch: one that seemed dead, and its successor."""
    files, root = open_files(parts)
    unfinished = f"{root}/{key}.{uuid4().hex}.unfinished"
    with as_os_errors(files, parts):
        with files.open(unfinished, "wb") as file:
            pq.write_table(table, file)
        files.mv(unfinished, f"{root}/{key}.parquet")


def list_parts(parts: str) -> set[str]:
    """Keys of the batches that are finished."""
    files, root = open_files(parts)
    names = (path.rsplit("/", 1)[-1] for path in files.find(root)) if files.exists(root) else ()
    return {name.removesuffix(".parquet") for name in names if name.endswith(".parquet")}
