"""The figures of exchanges that the helper measured, as the extension computes them (`model/src/features/exchange-features.ts`)."""

from __future__ import annotations

import numpy as np

from .features import mean_over_window
from .request_log import QUIC, TCP

# In which round trips and first bytes are averaged (WiseTrans, section 4.5.2).
RECORD_WINDOW_S = 30


def compute_figures(exchanges: dict[str, np.ndarray], time_s: np.ndarray, protocol: np.ndarray) -> dict[str, np.ndarray]:
    """Each exchange's own figures, in the columns that `compute_features` averages; as `model/src/features/` does.

    Goodputs are bytes of the body per millisecond: from the first to the last byte of the response, and from the request to the
    last byte. Round trips and retransmissions are those of the kernel's TCP; of QUIC they are missing.
    """
    ttfb, completion, size = (exchanges[name] for name in ("ttfbMs", "completionMs", "bytes"))
    mean_rtt, mean_ttfb = np.full(len(ttfb), np.nan), np.full(len(ttfb), np.nan)
    for transport in (TCP, QUIC):
        own = protocol == transport
        mean_rtt[own] = mean_over_window(exchanges["rttMs"][own], time_s[own], RECORD_WINDOW_S)
        mean_ttfb[own] = mean_over_window(ttfb[own], time_s[own], RECORD_WINDOW_S)
    body = np.where(size > 0, size, np.nan)
    return {
        "Judge_Retran_long": _divide(exchanges["outOfOrder"], exchanges["segments"]),
        "Judge_Rtt_9": mean_rtt,
        "Judge_Thp": _divide(body, completion - ttfb),
        "Judge_Ttfb_9": mean_ttfb,
        "Judge_Ttfb": ttfb,
        "Judge_Ttfb_rate": _divide(ttfb, mean_ttfb),
        "Judge_Perf": _divide(body, completion),
    }


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The ratio; NaN where the denominator is not above 0."""
    return np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0)
