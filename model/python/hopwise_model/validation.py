"""Cross-validation that holds out whole network conditions, never rows."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold

from .learner import Learner, Settings

FOLDS = 5
TEST_SHARE = 0.25
GRID = [
    Settings(max_depth, min_child_weight, joint)
    for joint in (False, True)
    for max_depth in (3, 5, 7)
    for min_child_weight in (1, 300)
]


def split_conditions(rows: pd.DataFrame, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the rows for choosing settings, and of those that only judge the result."""
    conditions = np.sort(rows["condition"].unique())
    shuffled = np.random.default_rng(seed).permutation(conditions)
    is_test = rows["condition"].isin(shuffled[: round(TEST_SHARE * len(shuffled))]).to_numpy()
    return ~is_test, is_test


def predict_held_out(
    make: Callable[[], Learner], features: np.ndarray, rows: pd.DataFrame, costs: np.ndarray, seed: int
) -> np.ndarray:
    """Predicts every row by a learner that has seen no row of its condition."""
    protocols = rows["protocol"].to_numpy()
    predicted = np.empty(len(rows), dtype=np.float32)
    folds = GroupKFold(min(FOLDS, rows["condition"].nunique()), shuffle=True, random_state=seed)
    for train, test in folds.split(features, groups=rows["condition"]):
        learner = make().fit(features[train], protocols[train], costs[train])
        predicted[test] = learner.predict(features[test], protocols[test])
    return predicted
