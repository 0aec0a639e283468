"""Request logs in WiseTrans's format: CSV, plain or gzipped, one request a row, columns in any order."""

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from .errors import InputError, describe_problem

# Rate in Mbit/s, loss in percent and delay in ms of the testbed's link.
NETWORK = ["BW", "Loss", "Delay"]
CONDITION = [*NETWORK, "Window"]
MEASURED = [
    "Judge_Retran_long",
    "Judge_Rtt_9",
    "Judge_Thp",
    "Judge_Ttfb_9",
    "Judge_Ttfb",
    "Judge_Ttfb_rate",
    "Judge_Perf",
]
REQUIRED = [*CONDITION, "Timestamp", "Status", "Protocol", "Duration", *MEASURED]

TCP, QUIC = 0, 1

# The testbed's own time limits are 60 s and 150 s. Longer values are clock errors.
MAX_DURATION_MS = 200_000
MAX_TTFB_MS = 200_000
# No retransmission rate, round trip or goodput is as large in any unit.
MAX_MEASURED = 1e9


@dataclass(frozen=True)
class RequestLog:
    """Usable requests in order of time, and how many rows were skipped for which reason.

    `rows` has the columns `condition` (id of the network condition), `protocol` (`TCP` or `QUIC`), `time_s`,
    `duration_ms`, the condition's `NETWORK` and `MEASURED`, where NaN is a value that was not measured.
    """

    rows: pd.DataFrame
    skipped: dict[str, int]


def read_log(path: str | Path) -> RequestLog:
    """Reads a log.

    A row is skipped if its request failed or if its protocol, condition, time or duration is impossible. A measured
    value that is negative, infinite, out of all range or longer than any time limit counts as missing.

    Raises InputError if the file is unreadable, lacks a column, or has no usable row.
    """
    try:
        raw = pd.read_csv(path, low_memory=False)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError(f"{path}: expected a CSV file in WiseTrans's format: {describe_problem(error)}") from error
    missing = [name for name in REQUIRED if name not in raw.columns]
    if missing:
        raise InputError(f"{path}, first line: expected the columns {', '.join(missing)}")
    return _clean(raw, path)


def _clean(raw: pd.DataFrame, path: str | Path) -> RequestLog:
    numbers = raw[[name for name in REQUIRED if name != "Timestamp"]]
    numbers = numbers.apply(pd.to_numeric, errors="coerce").replace([np.inf, -np.inf], np.nan)
    times = pd.to_datetime(raw["Timestamp"], errors="coerce", format="%Y-%m-%d %H:%M:%S")
    duration_ms = numbers["Duration"] / 1000
    reasons = {
        "no condition": numbers[CONDITION].isna().any(axis=1) | (numbers[CONDITION] < 0).any(axis=1),
        "no time": times.isna(),
        "unknown protocol": ~numbers["Protocol"].isin([TCP, QUIC]),
        "failed": numbers["Status"] != 0,
        "impossible duration": ~((duration_ms > 0) & (duration_ms <= MAX_DURATION_MS)),
    }
    skipped, usable = {}, pd.Series(True, index=raw.index)
    for reason, affected in reasons.items():
        skipped[reason] = int((usable & affected).sum())
        usable &= ~affected
    if not usable.any():
        raise InputError(f"{path}: expected at least one usable request, skipped all {len(raw)}: {skipped}")

    rows = numbers.loc[usable, MEASURED]
    rows = rows.where((rows >= 0) & (rows <= MAX_MEASURED))
    for name in ("Judge_Ttfb", "Judge_Ttfb_9"):
        rows[name] = rows[name].where(rows[name] <= MAX_TTFB_MS)
    rows["condition"] = numbers.loc[usable].groupby(CONDITION).ngroup()
    rows["protocol"] = numbers.loc[usable, "Protocol"].astype(int)
    rows["time_s"] = times[usable].astype("datetime64[s]").astype("int64")
    rows["duration_ms"] = duration_ms[usable]
    rows[NETWORK] = numbers.loc[usable, NETWORK]
    rows = rows.sort_values(["time_s", "condition", "protocol", *MEASURED, "duration_ms"], kind="stable")
    return RequestLog(rows.reset_index(drop=True), {k: n for k, n in skipped.items() if n > 0})
