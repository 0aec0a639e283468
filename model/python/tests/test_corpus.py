import contextlib
import json
import os
import signal
import stat
import sys
import threading
import time
import zipfile

import psutil
import pyarrow.parquet as pq
import pytest
from corpus_files import make_recording, write_recordings
from distributed import LocalCluster

from hopwise_model.__main__ import main
from hopwise_model.corpus.batches import MAX_SIZE, Settings, split_batches
from hopwise_model.corpus.emulator import Emulator
from hopwise_model.corpus.report import _advice_table, _choices_table
from hopwise_model.corpus.rows import classify_network, find_cdn
from hopwise_model.corpus.run import run_corpus
from hopwise_model.corpus.sources import Source
from hopwise_model.errors import InputError

# Two batches, by the hashes of the names.
RECORDINGS = 9


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Generated recordings, and three that cannot be used."""
    folder = write_recordings(tmp_path_factory.mktemp("corpus"), RECORDINGS)
    (folder / "cut.har").write_text('{"log": {')
    (folder / "cut.har.gz").write_bytes(b"\x1f\x8b\x08")
    (folder / "other.json").write_text('{"a": 1}')
    (folder / "notes.txt").write_text("not a recording")
    return folder


@pytest.fixture(scope="module")
def scheduler():
    """The address of a cluster for tests that are not about the workers themselves, which take seconds to start."""
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def one_worker(corpus, scheduler, tmp_path_factory):
    """The corpus by one worker, with labels."""
    out = tmp_path_factory.mktemp("one")
    labels = out / "labels.csv"
    labels.write_text("recording,country\n" + "".join(f"000/{seed:06}.json,{'NZ' if seed % 2 else 'DE'}\n" for seed in (1, 2, 4, 5)))
    return out / "out", run(corpus, out / "out", scheduler=scheduler, workers=None, labels=str(labels))


def run(corpus, out, **options):
    return run_corpus(str(corpus), str(out), lambda line: None, **{"workers": 2, **options})


def tables(out):
    return {name: pq.read_table(out / f"{name}.parquet") for name in ("pages", "origins", "advice")}


def test_every_recording_is_one_row_with_its_prediction_or_its_error(corpus, one_worker):
    out, report = one_worker
    rows = {row["recording"]: row for row in tables(out)["pages"].to_pylist()}
    assert len(rows) == RECORDINGS + 3
    assert tables(out)["pages"].num_rows == len(rows)
    assert {name for name, row in rows.items() if row["error"]} == {"cut.har", "cut.har.gz", "other.json"}
    assert "gzip" in rows["cut.har.gz"]["error"]
    page = rows["000/000001.json"]
    assert (page["url"], page["best"] in ("h1", "h2", "h3"), page["h1Ms"] > 0) == ("https://site1.test/", True, True)
    assert report["recordings"] == len(rows)
    assert report["errors"]["count"] == 3
    assert sum(report["decisions"].values()) == report["pages"]["pages"] == RECORDINGS


def test_the_report_groups_by_network_origin_cdn_and_label(one_worker):
    out, report = one_worker
    assert sum(group["pages"] for group in report["networks"].values()) == RECORDINGS
    assert {"near", "distant"} == set(report["networks"])
    assert report["origins"]["https://site1.test"]["pages"] == 2  # seeds 1 and 8
    assert report["cdns"]["Amazon CloudFront"]["pages"] == RECORDINGS
    assert {name: group["pages"] for name, group in report["labels"]["country"].items()} == {"DE": 2, "NZ": 2}
    assert report["advice"]
    for gain in report["advice"].values():
        assert 0 < gain["gainOverAllPages"] <= gain["gainWhereAdvised"]
    markdown = (out / "REPORT.md").read_text()
    assert f"{RECORDINGS + 3} recordings, of which 3 could not be predicted" in markdown
    assert "| NZ | 2 |" in markdown


def test_a_table_without_a_figure_above_zero_is_a_sentence():
    none, some = {"h1": 0, "h2": 0, "h3": 0}, {"h1": 0, "h2": 2, "h3": 0}
    lines = _choices_table("CDN", {"a": {"pages": 3, "decided": none}, "b": {"pages": 2, "decided": some}})
    assert lines[-1] == "| b | 2 | 0 | 2 | 0 |"
    assert not any("| a |" in line for line in lines)
    alone = _choices_table("CDN", {"a": {"pages": 3, "decided": none}})
    assert alone[-1] == "None: on no page does the protocol of one CDN surely move the load time."
    assert _advice_table({})[-1] == "No change of the servers is predicted to gain enough to be advised."


def test_two_workers_give_the_tables_of_one(corpus, one_worker, tmp_path):
    two = run(corpus, tmp_path / "two")
    out, one = one_worker
    assert tables(tmp_path / "two") == tables(out)
    assert {**two, "run": None, "labels": None} == {**one, "run": None, "labels": None}


def test_a_worker_killed_in_mid_run_loses_nothing_and_counts_nothing_twice(corpus, one_worker, tmp_path):
    killed = []
    others = {process.pid for process in psutil.Process().children(recursive=True)}

    def kill_a_worker():
        until = time.monotonic() + 60
        while not killed and time.monotonic() < until:
            for process in psutil.Process().children(recursive=True):
                # A worker with an emulator has begun to work.
                with contextlib.suppress(psutil.NoSuchProcess):
                    if process.pid not in others and "--jsonl" in process.cmdline():
                        killed.append(process.ppid())
                        os.kill(process.ppid(), signal.SIGKILL)
                        return
            time.sleep(0.01)

    thread = threading.Thread(target=kill_a_worker)
    thread.start()
    run(corpus, tmp_path / "out", advise=False)
    thread.join()
    assert killed
    for name in ("pages", "origins"):
        assert tables(tmp_path / "out")[name] == tables(one_worker[0])[name]
    assert not list((tmp_path / "out").rglob("*.unfinished"))


def test_a_run_goes_on_with_what_is_missing_or_has_changed(scheduler, tmp_path):
    folder, out = tmp_path / "corpus", tmp_path / "out"
    write_recordings(folder, RECORDINGS)

    def go_on():
        return run(folder, out, scheduler=scheduler, workers=None, advise=False)

    first = go_on()
    assert (first["run"]["recordings"], first["advice"]) == (RECORDINGS, {})
    assert go_on()["run"]["recordings"] == 0
    (folder / "000" / "000001.json").write_text(json.dumps(make_recording(100)))
    again = go_on()
    assert 0 < again["run"]["recordings"] < RECORDINGS
    assert again["recordings"] == RECORDINGS
    (folder / "000" / "000002.json").unlink()
    assert go_on()["recordings"] == RECORDINGS - 1


def test_settings_of_another_run_are_refused(corpus, one_worker, capsys):
    out, _ = one_worker
    assert main(["corpus", str(corpus), "--out", str(out), "--rtt", "60"]) == 2
    assert capsys.readouterr().err.endswith("expected an empty folder or the same\n")


def test_recordings_of_another_file_system_are_read_from_copies(corpus, one_worker, scheduler, tmp_path):
    # A zip file is the nearest file system that is not local and that all processes can open.
    archive = tmp_path / "corpus.zip"
    with zipfile.ZipFile(archive, "w") as files:
        for name in ("000/000001.json", "000/000003.json.gz"):
            files.write(corpus / name, name)
    out = tmp_path / "out"
    report = run(f"zip://::{archive}", out, scheduler=scheduler, workers=None)
    assert report["errors"]["count"] == 0
    here = {row["recording"]: row for row in tables(one_worker[0])["pages"].to_pylist()}
    for row in tables(out)["pages"].to_pylist():
        assert row == here[row["recording"]]


def test_flags_of_the_network_apply_to_every_recording(scheduler, tmp_path, capsys):
    folder = write_recordings(tmp_path / "corpus", 2)
    words = ["corpus", str(folder), "--out", str(tmp_path / "out"), "--scheduler", scheduler, "--rtt", "80", "--no-advice"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recordings"] == 2
    assert tables(tmp_path / "out")["pages"]["rttMs"].to_pylist() == [80, 80]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["{missing}"], "missing: "),
        (["{empty}"], "expected files that end in .har"),
        (["nothing://here"], "expected a folder or a URL that fsspec can open"),
        (["{corpus}", "--labels", "{empty}/none.csv"], "expected a CSV file"),
        (["{corpus}", "--scheduler", "nothing://here"], "expected the address of a Dask scheduler"),
    ],
)
def test_unusable_input_is_one_line(words, line, corpus, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    names = {"corpus": corpus, "empty": tmp_path / "empty", "missing": tmp_path / "missing"}
    words = [word.format(**names) for word in words]
    assert main(["corpus", *words, "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert line in errors[-1]


def program(tmp_path, text):
    """A stand-in for the emulator: the real one neither hangs nor dies on any recording that is known."""
    path = tmp_path / "program.py"
    path.write_text(f"#!{sys.executable}\nimport json, sys, time\nfor line in sys.stdin:\n    question = json.loads(line)\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return [str(path)]


ANSWER = "    print(json.dumps({'id': question['id'], 'prediction': {}}), flush=True)\n"


def test_an_emulator_that_dies_is_replaced(tmp_path):
    emulator = Emulator(program(tmp_path, "    if question['id'] == 'bad': sys.exit('out of memory')\n" + ANSWER), [])
    assert emulator.ask("good", "a", False) == {"prediction": {}}
    assert emulator.ask("bad", "a", False) == {"error": "the emulator ended with code 1: out of memory"}
    assert emulator.ask("good", "a", False) == {"prediction": {}}
    emulator.close()


def test_an_emulator_that_hangs_is_replaced(tmp_path):
    emulator = Emulator(program(tmp_path, "    if question['id'] == 'bad': time.sleep(60)\n" + ANSWER), [], limit_s=0.5)
    assert emulator.ask("bad", "a", False) == {"error": "took longer than 0.5 s"}
    # On a busy machine the new process may take longer than that to start.
    emulator.limit_s = 60
    assert emulator.ask("good", "a", False) == {"prediction": {}}
    emulator.close()


def test_a_new_recording_changes_one_batch():
    settings = Settings("file:///corpus", (), True, "0.1.0")
    sources = [Source(f"{number:05}.har", "1") for number in range(1000)]
    before = {batch.key for batch in split_batches(sources, settings)}
    after = split_batches(sorted([*sources, Source("00500a.har", "1")]), settings)
    assert len({batch.key for batch in after} - before) <= 2
    assert sum(len(batch.sources) for batch in after) == 1001
    assert max(len(batch.sources) for batch in after) <= MAX_SIZE
    assert len(after) > 1000 / MAX_SIZE


@pytest.mark.parametrize(
    ("figures", "kind"),
    [
        ({"rttMs": 20}, "near"),
        ({"rttMs": 50}, "distant"),
        ({"rttMs": 500}, "long-delay"),
        ({"loss": 0.01}, "lossy"),
        ({"udpShares": {"open": 0.4, "policed": 0.5, "blocked": 0.1}}, "udp-hindered"),
    ],
)
def test_networks_are_classed_by_what_distinguishes_them(figures, kind):
    usual = {"rttMs": 20, "loss": 0, "udpShares": {"open": 0.9, "policed": 0.05, "blocked": 0.05}}
    assert classify_network({**usual, **figures}) == kind


def test_cdns_are_found_by_whole_labels_of_the_host():
    assert find_cdn("https://d1.cloudfront.net") == "Amazon CloudFront"
    assert find_cdn("https://notcloudfront.net") is None
