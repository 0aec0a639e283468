"""1,000 generated requests and their features, for which Python and TypeScript must agree.

`python tests/golden_windows.py` writes `model/golden/windows.json` anew. The requests are not in it: both sides generate them, from
numbers that are exact in both.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from hopwise_model.features import FEATURES, compute_features
from hopwise_model.request_log import QUIC, TCP

GOLDEN = Path(__file__).parents[2] / "golden" / "windows.json"
REQUESTS = 1_000
# Largest value of each feature, in the order of FEATURES.
SCALES = [0.125, 512, 1024, 1024, 2048, 4, 256]
MISSING = 0.125


def generate_requests() -> pd.DataFrame:
    """Requests under both protocols, an eighth of their figures missing, with gaps longer than a window."""
    random = uniform()
    rows = []
    time_s = 0.0
    for index in range(REQUESTS):
        time_s += (4 if index % 100 else 64) * next(random)
        row = {"time_s": time_s, "protocol": TCP if next(random) < 0.5 else QUIC}
        for column, scale in zip(FEATURES.values(), SCALES):
            missing = next(random) < MISSING
            value = next(random) * scale
            row[column] = np.nan if missing else value
        rows.append(row)
    return pd.DataFrame(rows)


def uniform():
    """The linear congruential generator of Numerical Recipes (chapter 7.1), over 2^32."""
    state = 1
    while True:
        state = (1664525 * state + 1013904223) % 2**32
        yield state / 2**32


def golden_text() -> str:
    """A line for each request; null stands for a missing feature."""
    rows = compute_features(generate_requests())
    lines = [json.dumps([None if np.isnan(value) else float(f"{value:.9g}") for value in row]) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    GOLDEN.write_text(golden_text())
