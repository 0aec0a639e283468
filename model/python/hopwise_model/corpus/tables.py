"""The tables of a corpus, joined from the parts of its batches."""

from collections.abc import Iterable

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from .files import open_files
from .rows import ADVICE, ORIGIN, PAGES

NESTED = {"origins": ("originRows", ORIGIN), "advice": ("adviceRows", ADVICE)}
PAGE_COLUMNS = [field for field in PAGES if field.name not in {column for column, _ in NESTED.values()}]


def write_tables(keys: Iterable[str], parts: str, out: str) -> None:
    """Writes `pages.parquet`, `origins.parquet` and `advice.parquet` in order of the batches, one part in memory at a time."""
    files, root = open_files(out)
    schemas = {"pages": pa.schema(PAGE_COLUMNS)}
    for name, (_, struct) in NESTED.items():
        schemas[name] = pa.schema([("recording", pa.string()), *struct])
    opened = {name: files.open(f"{root}/{name}.unfinished", "wb") for name in schemas}
    writers = {name: pq.ParquetWriter(opened[name], schema) for name, schema in schemas.items()}
    for key in keys:
        part = _read_part(files, f"{open_files(parts)[1]}/{key}.parquet")
        writers["pages"].write_table(part.select(schemas["pages"].names))
        for name, (column, _) in NESTED.items():
            writers[name].write_table(_unnest(part, column, schemas[name]))
    for name in schemas:
        writers[name].close()
        opened[name].close()
        files.mv(f"{root}/{name}.unfinished", f"{root}/{name}.parquet")


def _read_part(files: fsspec.AbstractFileSystem, path: str) -> pa.Table:
    with files.open(path, "rb") as file:
        return pq.read_table(file)


def _unnest(part: pa.Table, column: str, schema: pa.Schema) -> pa.Table:
    rows = [
        {"recording": page["recording"], **row}
        for page in part.select(["recording", column]).to_pylist()
        for row in page[column] or ()
    ]
    return pa.Table.from_pylist(rows, schema=schema)
