"""WiseTrans's rollback checker (section 3.4): after a switch, compares request times with those before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .request_log import QUIC, TCP

# A request may take this long in the testbed. After a longer silence the network may be another one.
PAUSE_S = 150
# Networks always differ: a prior that knows everything would not learn from requests.
MIN_VARIANCE = 1e-4


@dataclass(frozen=True)
class Comparisons:
    """What each request can be compared with: `log_ratio` of mean times, TCP to QUIC, and `counts` of both, shape (rows, 2).

    NaN and 0 where there was no switch, or no request since.
    """

    log_ratio: np.ndarray
    counts: np.ndarray

    def take(self, chosen: np.ndarray) -> Comparisons:
        return Comparisons(self.log_ratio[chosen], self.counts[chosen])


def compare_switches(rows: pd.DataFrame) -> Comparisons:
    """Compares, at each request, the earlier ones since the last switch with the other protocol's before that switch.

    The request itself does not count, nor does anything before a pause of more than `PAUSE_S`. `rows` must be in order of time.
    """
    protocols, times = rows["protocol"].to_numpy(), rows["time_s"].to_numpy()
    index = np.arange(len(rows))
    begins = np.concatenate([[True], (np.diff(protocols) != 0) | (np.diff(times) > PAUSE_S)])
    start = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    after = index - start
    last = np.maximum(start - 1, 0)
    first = start[last]
    known = (after > 0) & (protocols[last] != protocols) & (times[start] - times[last] <= PAUSE_S)
    before = last + 1 - first

    sums = np.concatenate([[0], np.cumsum(rows["duration_ms"].to_numpy())])
    means_before = (sums[last + 1] - sums[first]) / before
    means_after = (sums[index] - sums[start])[known] / after[known]
    sign = np.where(protocols == QUIC, 1, -1)
    log_ratio = np.full(len(rows), np.nan)
    log_ratio[known] = sign[known] * np.log(means_before[known] / means_after)
    counts = np.empty((len(rows), 2), dtype=int)
    counts[:, TCP] = np.where(known, np.where(protocols == TCP, after, before), 0)
    counts[:, QUIC] = np.where(known, np.where(protocols == TCP, before, after), 0)
    return Comparisons(log_ratio, counts)


@dataclass(frozen=True)
class RollbackChecker:
    """What the log ratio of mean request times is on networks in general, and how much single requests scatter.

    `mean` and `variance` are those of the log ratio, TCP to QUIC, over network conditions. `spreads` are the variances of
    request times by protocol, over the square of their mean. Few requests leave the ratio where networks have it in general.
    """

    mean: float
    variance: float
    spreads: tuple[float, float]

    def estimate(self, comparisons: Comparisons) -> np.ndarray:
        """Expected log ratio at each request, given its comparison; NaN where it has none."""
        with np.errstate(divide="ignore"):
            noise = (np.array(self.spreads) / comparisons.counts).sum(axis=1)
        weight = self.variance / (self.variance + noise)
        return self.mean + weight * (comparisons.log_ratio - self.mean)


def fit_checker(rows: pd.DataFrame) -> RollbackChecker:
    """Fits to the conditions of a log, each of which must have requests under both protocols."""
    groups = rows.groupby(["condition", "protocol"])["duration_ms"]
    squared_spread = (groups.var() / groups.mean() ** 2).unstack()
    spreads = np.nan_to_num(squared_spread.mean().to_numpy())
    noise = (spreads / groups.size().unstack().to_numpy()).sum(axis=1)
    means = groups.mean().unstack().to_numpy()
    ratios = np.log(means[:, TCP] / means[:, QUIC])
    variance = max(ratios.var() - noise.mean(), MIN_VARIANCE)
    return RollbackChecker(float(ratios.mean()), float(variance), (float(spreads[TCP]), float(spreads[QUIC])))
