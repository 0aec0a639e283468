"""The features at 1,000 generated exchanges of the helper, for which Python and TypeScript must agree.

`python tests/golden_exchanges.py` writes `model/golden/exchanges.json` anew. The exchanges are not in it: both sides generate them, from
numbers that are exact in both.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from golden_windows import MISSING, uniform

from hopwise_model.exchanges import compute_figures
from hopwise_model.features import compute_features
from hopwise_model.request_log import QUIC, TCP

GOLDEN = Path(__file__).parents[2] / "golden" / "exchanges.json"
EXCHANGES = 1_000


def compute_golden() -> np.ndarray:
    """Exchanges over both transports with gaps longer than a window; some without a body, a duration, or what TCP measures."""
    random = uniform()
    ended_ms = 0
    rows = []
    for index in range(EXCHANGES):
        ended_ms += int((4_000 if index % 100 else 64_000) * next(random))
        protocol = TCP if next(random) < 0.5 else QUIC
        ttfb = 1 + int(500 * next(random))
        completion = ttfb + int(8 * next(random)) * 16
        size = 0 if next(random) < MISSING else int(100_000 * next(random))
        segments, lost = int(8 * next(random)), next(random)
        has_rtt, rtt = next(random) >= MISSING, int(400 * next(random)) / 2
        is_measured = protocol == TCP and next(random) >= MISSING
        rows.append(
            {
                "time_s": ended_ms / 1000,
                "protocol": protocol,
                "ttfbMs": ttfb,
                "completionMs": completion,
                "bytes": size,
                "rttMs": rtt if is_measured and has_rtt else np.nan,
                "segments": segments if is_measured else np.nan,
                "outOfOrder": int(segments * lost) if is_measured else np.nan,
            }
        )
    table = pd.DataFrame(rows)
    time_s, protocol = table["time_s"].to_numpy(), table["protocol"].to_numpy()
    names = ("ttfbMs", "completionMs", "bytes", "rttMs", "segments", "outOfOrder")
    figures = compute_figures({name: table[name].to_numpy(dtype=float) for name in names}, time_s, protocol)
    return compute_features(pd.DataFrame({"time_s": time_s, "protocol": protocol, **figures}))


def golden_text() -> str:
    """A line for each exchange; null stands for a missing feature."""
    lines = [json.dumps([None if np.isnan(value) else float(f"{value:.9g}") for value in row]) for row in compute_golden()]
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    GOLDEN.write_text(golden_text())
