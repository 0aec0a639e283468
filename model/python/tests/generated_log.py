"""Request logs for tests: loss decides which protocol is faster, and shows in the features."""

from pathlib import Path

import numpy as np
import pandas as pd

from hopwise_model.request_log import REQUIRED

REQUESTS = 20


def generate_rows(conditions: int = 30, seed: int = 1) -> pd.DataFrame:
    """Rows of `conditions` network conditions with `REQUESTS` requests under each protocol.

    Below 5% loss TCP takes 200 ms and QUIC 300 ms, above it TCP takes 900 ms and QUIC 400 ms, each ±10%.
    """
    random = np.random.default_rng(seed)
    groups = []
    for condition in range(conditions):
        loss = 20 * condition / (conditions - 1)
        for protocol in (0, 1):
            mean_ms = (200, 300)[protocol] if loss < 5 else (900, 400)[protocol]
            duration_ms = mean_ms * random.uniform(0.9, 1.1, REQUESTS)
            start = pd.Timestamp("2020-01-01") + pd.Timedelta(minutes=10 * (2 * condition + protocol))
            groups.append(
                pd.DataFrame(
                    {
                        "BW": 10.0,
                        "Loss": loss,
                        "Delay": 15.0,
                        "Window": 30.0,
                        "Timestamp": [str(start + pd.Timedelta(seconds=second)) for second in range(REQUESTS)],
                        "Status": 0,
                        "Protocol": protocol,
                        "Duration": (1000 * duration_ms).round(),
                        "Judge_Retran_long": loss / 100 * random.uniform(0.8, 1.2, REQUESTS),
                        "Judge_Rtt_9": random.uniform(15, 20, REQUESTS),
                        "Judge_Thp": 10_000 / duration_ms,
                        "Judge_Ttfb_9": duration_ms / 2,
                        "Judge_Ttfb": duration_ms / 2,
                        "Judge_Ttfb_rate": 1.0,
                        "Judge_Perf": 5_000 / duration_ms,
                    }
                )
            )
    return pd.concat(groups, ignore_index=True)[REQUIRED]


def write_log(path: Path, rows: pd.DataFrame) -> Path:
    rows.to_csv(path, index=False)
    return path
