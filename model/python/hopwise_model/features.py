"""The seven features of WiseTrans's Table 1, averaged over the recognition window (its Figure 5)."""

import numpy as np
import pandas as pd

from .request_log import TCP, QUIC

# Feature -> column of the log. The client has already averaged RTT, TTFB and retransmissions over its record window.
FEATURES = {
    "retransmission_rate": "Judge_Retran_long",
    "mean_rtt_ms": "Judge_Rtt_9",
    "response_goodput": "Judge_Thp",
    "mean_ttfb_ms": "Judge_Ttfb_9",
    "ttfb_ms": "Judge_Ttfb",
    "ttfb_ratio": "Judge_Ttfb_rate",
    "completion_goodput": "Judge_Perf",
}

# These span several orders of magnitude between requests: their geometric mean is stable, their mean is not.
GEOMETRIC = {"response_goodput", "ttfb_ms", "completion_goodput"}
MIN_GEOMETRIC = 0.01

RECOGNITION_WINDOW_S = 30


def compute_features(rows: pd.DataFrame, window_s: float = RECOGNITION_WINDOW_S) -> np.ndarray:
    """Features at each request, float32 of shape (requests, 7) in the order of `FEATURES`.

    Each is the mean over the requests under the same protocol that are not newer and at most `window_s` older, the
    request itself included. NaN where none of them has the value. `rows` must be in order of time.
    """
    features = np.full((len(rows), len(FEATURES)), np.nan)
    for protocol in (TCP, QUIC):
        chosen = np.flatnonzero(rows["protocol"].to_numpy() == protocol)
        times = rows["time_s"].to_numpy()[chosen]
        for column, (name, source) in enumerate(FEATURES.items()):
            values = rows[source].to_numpy(dtype=float)[chosen]
            if name in GEOMETRIC:
                logs = np.log(np.maximum(values, MIN_GEOMETRIC))
                features[chosen, column] = np.exp(mean_over_window(logs, times, window_s))
            else:
                features[chosen, column] = mean_over_window(values, times, window_s)
    return features.astype(np.float32)


def mean_over_window(values: np.ndarray, times: np.ndarray, window_s: float) -> np.ndarray:
    """Mean of the values that are present in [time - window_s, time] up to each row."""
    present = ~np.isnan(values)
    sums = np.concatenate([[0], np.cumsum(np.where(present, values, 0))])
    counts = np.concatenate([[0], np.cumsum(present)])
    first = np.searchsorted(times, times - window_s, side="left")
    end = np.arange(1, len(times) + 1)
    count = counts[end] - counts[first]
    return np.divide(sums[end] - sums[first], count, out=np.full(len(times), np.nan), where=count > 0)
