"""Asks a long-lived `hopwise predict --jsonl` process, one for each worker."""

import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from ..errors import InputError

# An ordinary page takes about a second; a page that takes this long would hold up its whole batch.
LIMIT_S = 300
REPOSITORY = Path(__file__).resolve().parents[4]


def find_command() -> list[str]:
    """Node and the command-line program of this repository.

    Raises InputError if either is missing.
    """
    node = os.environ.get("HOPWISE_NODE") or shutil.which("node")
    program = REPOSITORY / "pageload-emulator" / "bin" / "hopwise.mjs"
    if node is None or not program.exists():
        raise InputError(f"expected node on the PATH and {program}: run `npm run model -- corpus`")
    return [node, str(program)]


class Emulator:
    """Answers one recording at a time. A process that ends or hangs is replaced for the next recording.

    `limit_s` is how long the next answer may take, with the start of a process, in seconds.
    """

    def __init__(self, command: list[str], flags: list[str], limit_s: float = LIMIT_S):
        self._command = [*command, "predict", "--jsonl", *flags]
        self.limit_s = limit_s
        self._process: subprocess.Popen | None = None
        self._errors = tempfile.TemporaryFile()

    def ask(self, name: str, path: str, advise: bool) -> dict:
        """`{"prediction", "advice"?}`, or `{"error"}` with the reason why there is no prediction."""
        process = self._running()
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            process.kill()

        timer = threading.Timer(self.limit_s, end)
        timer.start()
        try:
            process.stdin.write(json.dumps({"id": name, "path": path, "advise": advise}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line.endswith("\n"):
            answer = json.loads(line)
            if answer.pop("id") == name:
                return answer
            self.close()
            return {"error": f"the emulator answered another question: {answer.get('error', 'out of order')}"}
        code = process.wait()
        self._process = None
        if is_late.is_set():
            return {"error": f"took longer than {self.limit_s:g} s"}
        return {"error": f"the emulator ended with code {code}: {self._last_error()}"}

    def close(self) -> None:
        """Ends the process; the next question starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _running(self) -> subprocess.Popen:
        if self._process is None or self._process.poll() is not None:
            self._errors.truncate(0)
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                encoding="utf-8",
            )
        return self._process

    def _last_error(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no message"


# Dask's workers run tasks in threads: each has its own process.
_of_thread = threading.local()
_all: list[Emulator] = []


def emulator_of_thread(command: list[str], flags: list[str]) -> Emulator:
    """The emulator of this thread, started with these flags."""
    key = (tuple(command), tuple(flags))
    if getattr(_of_thread, "key", None) != key:
        if hasattr(_of_thread, "emulator"):
            _of_thread.emulator.close()
        _of_thread.key, _of_thread.emulator = key, Emulator(command, flags)
        _all.append(_of_thread.emulator)
    return _of_thread.emulator


@atexit.register
def _close_all() -> None:
    for emulator in _all:
        emulator.close()
