"""A Dask cluster that runs elsewhere, or one on this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import dask
from distributed import Client, LocalCluster

from .errors import InputError

CONNECT_S = 30


@contextmanager
def connect(scheduler: str) -> Iterator[Client]:
    """A client of a scheduler.

    Raises InputError if it does not answer, or has no workers.
    """
    try:
        client = Client(scheduler, timeout=CONNECT_S)
    except (OSError, ValueError) as error:
        raise InputError(f"{scheduler}: {error}; expected the address of a Dask scheduler") from error
    with client:
        if not client.nthreads():
            raise InputError(f"{scheduler}: expected a Dask scheduler with at least one worker, found none")
        yield client


@contextmanager
def start_local(workers: int | None) -> Iterator[Client]:
    """Processes on this machine: `workers`, or one for each processor."""
    count = workers or os.cpu_count() or 1
    with (
        # Dask's own folder for what workers write would stay.
        TemporaryDirectory(prefix="hopwise-dask-", ignore_cleanup_errors=True) as scratch,
        dask.config.set({"temporary-directory": scratch}),
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        yield client
