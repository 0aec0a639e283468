"""Runs the emulator on a corpus, as batches on the workers of a Dask cluster."""

import json
import time
from collections.abc import Callable
from itertools import islice

from distributed import Client, KilledWorker, as_completed

from ..cluster import connect, start_local
from ..errors import InputError
from .batches import Batch, Settings, list_parts, predict_batch, split_batches
from .emulator import REPOSITORY, find_command
from .files import as_os_errors, open_files
from .labels import read_labels
from .report import make_report, write_markdown
from .sources import SourceFolder
from .tables import write_tables

# Enough that no worker waits for the scheduler, few enough that the scheduler holds little.
BATCHES_A_WORKER = 3
PROGRESS_S = 5
SETTINGS = "settings.json"


def run_corpus(
    source: str,
    out: str,
    report: Callable[[str], None],
    scheduler: str | None = None,
    workers: int | None = None,
    labels: str | None = None,
    advise: bool = True,
    flags: tuple[str, ...] = (),
) -> dict:
    """Predicts every recording below `source`, and writes tables and report to `out`, a folder or URL of fsspec.

    A run that was stopped goes on with the batches that are missing. Returns the report, with the time and the rate of this run.

    Raises InputError if the source has no recordings, `out` has another corpus, or the scheduler does not answer.
    """
    known = read_labels(labels)
    command = find_command()
    folder = SourceFolder(source)
    settings = Settings(folder.url, flags, advise, _program_version())
    batches = split_batches(folder.list_sources(), settings)
    out = _absolute(out)
    parts = f"{out}/parts"
    total = sum(len(batch.sources) for batch in batches)
    _claim_folder(out, settings)
    done = list_parts(parts)
    todo = [batch for batch in batches if batch.key not in done]
    left = sum(len(batch.sources) for batch in todo)
    report(f"{total} recordings in {folder.url}, {total - left} of them done earlier")

    began = time.monotonic()
    if todo:
        with start_local(workers) if scheduler is None else connect(scheduler) as client:
            _predict_all(client, todo, settings, command, parts, report)
    seconds = time.monotonic() - began
    report("joining the tables")
    keys = [batch.key for batch in batches]
    write_tables(keys, parts, out)
    result = make_report(out, known)
    files, root = open_files(out)
    files.pipe_file(f"{root}/report.json", (json.dumps(result, indent=1) + "\n").encode())
    files.pipe_file(f"{root}/REPORT.md", write_markdown(result).encode())
    _remove_others(parts, set(keys))
    return {**result, "run": {"recordings": left, "seconds": seconds, "perSecond": left / seconds if left else None}}


def _absolute(out: str) -> str:
    files, root = open_files(out)
    with as_os_errors(files, out):
        files.makedirs(f"{root}/parts", exist_ok=True)
    return files.unstrip_protocol(root)


def _program_version() -> str:
    return json.loads((REPOSITORY / "package.json").read_text())["version"]


def _claim_folder(out: str, settings: Settings) -> None:
    """Raises InputError if the folder belongs to a run with other settings."""
    files, root = open_files(out)
    path = f"{root}/{SETTINGS}"
    text = json.dumps({**vars(settings), "flags": list(settings.flags)}, indent=1)
    if not files.exists(path):
        files.pipe_file(path, (text + "\n").encode())
    elif json.loads(files.cat_file(path)) != json.loads(text):
        raise InputError(f"{out}/{SETTINGS}: of another corpus or other settings; expected an empty folder or the same")


def _predict_all(
    client: Client,
    batches: list[Batch],
    settings: Settings,
    command: list[str],
    parts: str,
    report: Callable[[str], None],
) -> None:
    slots = sum(client.nthreads().values())
    waiting = iter(batches)

    def submit(batch: Batch):
        # Impure: the key of a batch that another client computed elsewhere must not stand for this one.
        return client.submit(predict_batch, batch, settings, command, parts, pure=False)

    running = as_completed([submit(batch) for batch in islice(waiting, slots * BATCHES_A_WORKER)])
    total, began, shown = sum(len(batch.sources) for batch in batches), time.monotonic(), time.monotonic()
    finished = errors = 0
    for future in running:
        try:
            counts = future.result()
        except KilledWorker as error:
            raise InputError(f"workers died again and again: {error}; run again to go on") from error
        finished += counts["recordings"]
        errors += counts["errors"]
        if (batch := next(waiting, None)) is not None:
            running.add(submit(batch))
        if time.monotonic() - shown > PROGRESS_S or finished == total:
            shown = time.monotonic()
            rate = finished / (shown - began)
            report(f"{finished} of {total} recordings, {errors} with errors, {rate:.1f} a second")


def _remove_others(parts: str, keys: set[str]) -> None:
    """Removes parts of recordings that have changed or gone, and what dead workers began to write."""
    files, root = open_files(parts)
    for path in files.find(root):
        name = path.rsplit("/", 1)[-1]
        if name.removesuffix(".parquet") not in keys:
            files.rm_file(path)
