"""How fast `corpus` is with one worker and with two, and how much memory it needs for few and for many recordings.

`python benchmarks/corpus_scale.py [--speed N] [--memory N ...]`, in an environment where `npm run model` works. Prints JSON.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from corpus_files import write_recordings  # noqa: E402

SAMPLE_S = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speed", type=int, default=400, help="recordings for one and two workers, with and without advice")
    parser.add_argument("--memory", type=int, nargs="*", default=[1_000, 20_000], help="recordings for two workers, without advice")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hopwise-corpus-") as scratch:
        folder = Path(scratch)
        recordings = write_recordings(folder / "speed", options.speed)
        speed = []
        for flags in ([], ["--no-advice"]):
            # One after two after one: a machine that slows down shows.
            for workers in (1, 2, 1):
                speed.append({"workers": workers, "flags": flags, **run(recordings, folder, workers, flags)})
                print(speed[-1], file=sys.stderr)
        memory = []
        for count in options.memory:
            recordings = write_recordings(folder / f"memory-{count}", count)
            memory.append({"recordings": count, **run(recordings, folder, 2, ["--no-advice"])})
            print(memory[-1], file=sys.stderr)
    print(json.dumps({"speed": speed, "memory": memory}, indent=1))


def run(recordings: Path, folder: Path, workers: int, flags: list[str]) -> dict:
    """Rate of a run, and the peak resident memory of its processes, in MB."""
    out = tempfile.mkdtemp(dir=folder)
    words = ["corpus", str(recordings), "--out", out, "--workers", str(workers), "--json", *flags]
    with tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(
            [sys.executable, "-m", "hopwise_model", *words],
            stdout=answer,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        )
        peaks: dict[str, float] = {}
        while process.poll() is None:
            for kind, megabytes in resident(process.pid).items():
                peaks[kind] = max(peaks.get(kind, 0), megabytes)
            time.sleep(SAMPLE_S)
        answer.seek(0)
        if process.returncode != 0:
            raise SystemExit(f"corpus ended with code {process.returncode}")
        made = json.load(answer)["run"]
    return {"perSecond": round(made["perSecond"], 2), "peakMB": {kind: round(peak) for kind, peak in peaks.items()}}


def resident(pid: int) -> dict[str, float]:
    """Resident memory now: the command itself, the largest worker, the largest emulator."""
    sizes: dict[str, float] = {}
    try:
        command = psutil.Process(pid)
        for process in [command, *command.children(recursive=True)]:
            try:
                kind = "command" if process.pid == pid else "emulator" if "--jsonl" in process.cmdline() else "worker"
                sizes[kind] = max(sizes.get(kind, 0), process.memory_info().rss / 1e6)
            except psutil.NoSuchProcess:
                continue
    except psutil.NoSuchProcess:
        pass
    return sizes


if __name__ == "__main__":
    main()
