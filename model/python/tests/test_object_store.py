"""A corpus in an object store, on workers of their own: s3fs against moto's server, which stands in for S3."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time

import psutil
import pyarrow.parquet as pq
import pytest
from corpus_files import write_recordings
from distributed import Client
from s3fs import S3FileSystem

from hopwise_model.__main__ import main
from hopwise_model.corpus.run import run_corpus

RECORDINGS = 9
WAIT_S = 60
SCHEDULER = "distributed.cli.dask_scheduler"
WORKER = "distributed.cli.dask_worker"
# As a process of its own: its clients are several.
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def running(words, **options):
    """A process of this Python that ends with the block."""
    with subprocess.Popen([sys.executable, *words], text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The store's address, which is in the variables that AWS's own clients read, beside nothing of the user's."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    none = str(tmp_path_factory.mktemp("aws") / "none")
    with pytest.MonkeyPatch.context() as environment, running(["-c", SERVER], **pipes) as process:
        address = "http://{}:{}".format(*process.stdout.readline().split())
        for name in list(os.environ):
            if name.startswith("AWS_"):
                environment.delenv(name)
        for name in ("CONFIG_FILE", "SHARED_CREDENTIALS_FILE"):
            environment.setenv(f"AWS_{name}", none)
        for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
            environment.setenv(f"AWS_{name}", "test")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        environment.setenv("AWS_MAX_ATTEMPTS", "1")
        environment.setenv("AWS_ENDPOINT_URL_S3", address)
        yield address
        S3FileSystem.clear_instance_cache()


@pytest.fixture(scope="module")
def store(server, tmp_path_factory):
    """The recordings' folder on this machine, and the store with a copy of it in `s3://pages/web`."""
    folder = write_recordings(tmp_path_factory.mktemp("corpus"), RECORDINGS)
    files = S3FileSystem(use_listings_cache=False)
    files.mkdir("pages")
    files.mkdir("results")
    files.put(f"{folder}/", "pages/web/", recursive=True)
    return folder, files


@pytest.fixture(scope="module")
def scheduler(server, tmp_path_factory):
    """The address of a scheduler with two workers, each a process as on machines of their own."""
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", file]
    worker = [*common, "--nthreads", "1", "--no-nanny", "--memory-limit", "0"]
    options = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options["env"] = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(__file__))}
    with contextlib.ExitStack() as stack:
        stack.enter_context(running(["-m", SCHEDULER, "--port", "0", *common], **options))
        wait_for(file.exists)
        for _ in range(2):
            stack.enter_context(running(["-m", WORKER, *worker], **options))
        address = json.loads(file.read_text())["address"]
        with Client(address) as client:
            client.wait_for_workers(2, timeout=WAIT_S)
        yield address


def wait_for(is_so):
    until = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def kill_a_worker():
    """Kills a worker that has begun to work: it has an emulator."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            parent = process.parent()
            if "--jsonl" in process.cmdline() and WORKER in parent.cmdline():
                parent.kill()
                return True
    return False


def test_workers_read_from_the_store_and_write_to_it_and_one_may_die(store, scheduler, tmp_path):
    folder, files = store

    def run(source, out):
        return run_corpus(str(source), str(out), lambda line: None, scheduler=scheduler, advise=False)

    here = tmp_path / "here"
    run(folder, here)
    killing = threading.Thread(target=wait_for, args=[kill_a_worker])
    killing.start()
    run("s3://pages/web", "s3://results/run")
    killing.join()
    with Client(scheduler) as client:
        assert len(client.nthreads()) == 1
    for name in ("pages", "origins"):
        with files.open(f"results/run/{name}.parquet") as file:
            assert pq.read_table(file) == pq.read_table(here / f"{name}.parquet")
    assert files.cat_file("results/run/REPORT.md").decode() == (here / "REPORT.md").read_text()

    name = "pages/web/000/000001.json"
    files.pipe_file(name, files.cat_file(name).replace(b"site1.test", b"sitex.test"))
    again = run("s3://pages/web", "s3://results/run")
    assert 0 < again["run"]["recordings"] < RECORDINGS
    assert again["recordings"] == RECORDINGS
    assert not [path for path in files.find("results/run") if path.endswith(".unfinished")]


@pytest.mark.parametrize(
    ("source", "change", "line"),
    [
        ("s3://none/web", {}, "bucket does not exist"),
        ("s3://pages/web", {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"}, "Could not connect"),
        ("s3://pages/web", {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "Unable to locate credentials"),
    ],
    ids=["no bucket", "no server", "no credentials"],
)
def test_a_store_that_cannot_be_used_is_one_line(source, change, line, server, tmp_path, monkeypatch, capsys):
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()
    assert main(["corpus", source, "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors[-1].startswith(f"hopwise: {source}: ")
    assert line in errors[-1]
    assert errors[-1].endswith("expected a folder of recordings")
