"""A small classifier and its answers to 10,000 generated rows, in which Python and TypeScript must agree.

`python tests/golden_classifier.py` writes `model/golden/classifier.onnx` and `classifier-answers.bin` (float32) anew. The rows are not
in them: both sides generate them, from numbers that are exact in both.
"""

from itertools import islice
from pathlib import Path

import numpy as np
from golden_windows import SCALES, uniform

from hopwise_model.features import FEATURES
from hopwise_model.learner import Learner, Settings
from hopwise_model.onnx_export import to_onnx
from hopwise_model.request_log import TCP

FOLDER = Path(__file__).parents[2] / "golden"
MODEL = FOLDER / "classifier.onnx"
ANSWERS = FOLDER / "classifier-answers.bin"
ROWS = 10_000
MISSING = 0.125
COLUMNS = [*FEATURES, "protocol"]


def generate_rows() -> np.ndarray:
    """float32 of shape (10,000, 8): features up to their scales, an eighth of them missing, and the protocol."""
    draws = np.array(list(islice(uniform(), ROWS * 15))).reshape(ROWS, 15)
    features = np.where(draws[:, 0:14:2] < MISSING, np.nan, draws[:, 1:14:2] * SCALES)
    return np.column_stack([features, draws[:, 14] >= 0.5]).astype(np.float32)


def train_trees():
    """Trees of a joint model for a made-up rule: QUIC gains with loss and distance, and loses where its goodput is low."""
    rows = generate_rows()
    known = np.nan_to_num(rows, nan=0.0)
    ratio = 4 * known[:, 0] + known[:, 1] / 1024 - np.where(known[:, 7] > 0, known[:, 2] < 200, 0.2)
    costs = 300 * np.exp(np.stack([ratio / 2, -ratio / 2], axis=1))
    learner = Learner(Settings(4, 1, joint=True)).fit(rows[:, :7], rows[:, 7].astype(int), costs)
    return learner.models[TCP]


if __name__ == "__main__":
    trees = train_trees()
    MODEL.write_bytes(to_onnx(trees, COLUMNS))
    ANSWERS.write_bytes(trees.predict(generate_rows()).astype("<f4").tobytes())
