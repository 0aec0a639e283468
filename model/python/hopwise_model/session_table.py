"""Measured sessions of `npm run lab -- requests`: JSON lines, compressed by gzip; lab/docs/requests.md describes them.

A session is one page's requests over one transport. The same requests over TCP and over QUIC, under one condition, with one stack of
servers, before or after the network changed, are a cell: in a cell it can be said which transport was faster. Requests that
were in progress at the change, over either transport, count as after it.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from .errors import InputError, describe_problem
from .exchanges import compute_figures
from .request_log import QUIC, TCP

TRANSPORTS = {"tcp": TCP, "quic": QUIC}
# Sessions follow each other in one time, farther apart than any window reaches.
SESSION_S = 10_000
HTTP3 = 3
# Fewer requests in common say little of a cell.
MIN_REQUESTS = 5
COLUMNS = ["index", "startedMs", "tookMs", "status", "bytes", "protocol", "endedMs", "ttfbMs", "completionMs", "rttMs", "segments", "outOfOrder"]


@dataclass(frozen=True)
class Sessions:
    """Requests and cells of a table.

    `requests` has every request as the client saw it and what the helper measured of it: `session`, `cell`, `transport` (of the
    session), `time_s`, `duration_ms`, `index`, `protocol` (NaN where it was not measured) and the columns of features' figures.
    `cells` has for each cell its `condition`, `stack`, `split`, `change`, `phase`, `is_hindered` (whether the network treats UDP
    worse than TCP), `late_share` (of the packets that the machine handed over late, in the worse session), and the mean times of the
    requests that both sessions have: `tcp_ms` and `quic_ms`.
    """

    requests: pd.DataFrame
    cells: pd.DataFrame

    @property
    def costs(self) -> np.ndarray:
        """Mean request times in ms by cell: shape (cells, 2), columns `TCP`, `QUIC`."""
        return self.cells[["tcp_ms", "quic_ms"]].to_numpy()

    def take(self, is_chosen: np.ndarray) -> Sessions:
        """The cells of a mask, numbered anew, with their requests."""
        numbers = np.cumsum(is_chosen) - 1
        requests = self.requests[is_chosen[self.requests["cell"]]].reset_index(drop=True)
        return Sessions(requests.assign(cell=numbers[requests["cell"]]), self.cells[is_chosen].reset_index(drop=True))


def read_sessions(path: str | Path) -> Sessions:
    """Reads a table; conditions without requests over both transports are left out.

    Raises InputError if it is unreadable, or has no other condition.
    """
    pairs: dict[tuple[str, str], dict[str, dict]] = {}
    for number, line in enumerate(_read_lines(path), start=1):
        try:
            session = json.loads(line)
            key = session["condition"], session["stack"]
            pairs.setdefault(key, {})[session["transport"]] = {
                **{name: session[name] for name in ("split", "change", "refusal", "lateShare")},
                "is_hindered": _list_hindrances(session),
                "requests": _read_requests(session),
            }
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"{path}, line {number}: expected a session of `npm run lab -- requests`: {error!r}") from error
    requests: list[dict[str, np.ndarray]] = []
    cells: list[dict] = []
    for number, ((condition, stack), pair) in enumerate(sorted(pairs.items())):
        if pair.keys() != TRANSPORTS.keys() or any(session["refusal"] for session in pair.values()):
            continue
        of_pair, of_cells = _compare(pair, 2 * number, len(cells))
        requests += of_pair
        cells += [{"condition": condition, "stack": stack, **cell} for cell in of_cells]
    if not cells:
        raise InputError(f"{path}: expected a condition that was measured over both transports, found none")
    table = pd.DataFrame({name: np.concatenate([each[name] for each in requests]) for name in requests[0]})
    return Sessions(table, pd.DataFrame(cells))


def _read_lines(path: str | Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"{path}: expected a table of `npm run lab -- requests`: {describe_problem(error)}") from error


def _list_hindrances(session: dict) -> list[bool]:
    """Whether UDP is hindered before the change, and at the end."""
    networks = [session["before"], *(step["network"] for step in session["after"])]
    hindered = [network["udp"] != "open" or network.get("udpLoss", 0) > 0 for network in networks]
    return [hindered[0], hindered[-1]]


def _read_requests(session: dict) -> dict[str, np.ndarray]:
    """The session's requests that succeeded, in order of completion, with the figures of the features."""
    columns = {name: np.array(session["requests"][name], dtype=float) for name in COLUMNS}
    answered = columns["status"] > 0
    columns = {name: values[answered] for name, values in columns.items()}
    # The client saw the end of those that the helper did not measure.
    seen_ms = columns["startedMs"] + columns["tookMs"]
    ended_s = np.where(np.isnan(columns["endedMs"]), seen_ms, columns["endedMs"]) / 1000
    order = np.argsort(ended_s, kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    protocol = np.where(np.isnan(columns["protocol"]), np.nan, columns["protocol"] == HTTP3)
    changed_ms = session["changedMs"][0] if session["changesBefore"] is not None and session["changedMs"] else np.inf
    is_later = columns["index"] >= (np.inf if session["changesBefore"] is None else session["changesBefore"])
    return {
        "index": columns["index"].astype(int),
        "phase": (is_later | (seen_ms[order] > changed_ms)).astype(int),
        "time_s": ended_s[order],
        "duration_ms": columns["tookMs"],
        "protocol": protocol,
        **compute_figures(columns, ended_s[order], protocol),
    }


def _compare(pair: dict[str, dict], first_session: int, first_cell: int) -> tuple[list[dict[str, np.ndarray]], list[dict]]:
    """Both sessions' requests with their cells, and the one cell or two of the condition."""
    requests = [pair[name]["requests"] for name in TRANSPORTS]
    later = np.concatenate([each["index"][each["phase"] == 1] for each in requests])
    phases = [np.isin(each["index"], later).astype(int) for each in requests]
    cells, numbers = [], np.full(2, -1)
    for phase in (0, 1):
        own = [each == phase for each in phases]
        common, *places = np.intersect1d(*(each["index"][mask] for each, mask in zip(requests, own)), return_indices=True)
        if len(common) < MIN_REQUESTS:
            continue
        tcp_ms, quic_ms = (each["duration_ms"][mask][place].mean() for each, mask, place in zip(requests, own, places))
        numbers[phase] = first_cell + len(cells)
        cells.append(
            {
                "split": pair["tcp"]["split"],
                "change": pair["tcp"]["change"],
                "phase": phase,
                "is_hindered": pair["tcp"]["is_hindered"][phase],
                "late_share": max(session["lateShare"] for session in pair.values()),
                "tcp_ms": float(tcp_ms),
                "quic_ms": float(quic_ms),
            }
        )
    placed = []
    for transport, (each, phase_of) in enumerate(zip(requests, phases)):
        cell = numbers[phase_of]
        session = first_session + transport
        columns = {
            **{name: values for name, values in each.items() if name != "phase"},
            "time_s": each["time_s"] + SESSION_S * session,
            "cell": cell,
            "session": np.full(len(cell), session),
            "transport": np.full(len(cell), transport),
        }
        placed.append({name: values[cell >= 0] for name, values in columns.items()})
    return placed, cells
