"""Cross-validation that holds out whole network conditions, never rows."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold

from .learner import Learner, Settings
from .rollback import Comparisons, fit_checker

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


def fold_conditions(rows: pd.DataFrame, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Indices of the rows to learn from and to judge, fold by fold."""
    folds = GroupKFold(min(FOLDS, rows["condition"].nunique()), shuffle=True, random_state=seed)
    return folds.split(rows, groups=rows["condition"])


def predict_held_out(
    make: Callable[[], Learner], features: np.ndarray, rows: pd.DataFrame, costs: np.ndarray, seed: int
) -> np.ndarray:
    """Predicts every row by a learner that has seen no row of its condition."""
    protocols = rows["protocol"].to_numpy()
    predicted = np.empty(len(rows), dtype=np.float32)
    for train, test in fold_conditions(rows, seed):
        learner = make().fit(features[train], protocols[train], costs[train])
        predicted[test] = learner.predict(features[test], protocols[test])
    return predicted


def check_held_out(comparisons: Comparisons, rows: pd.DataFrame, seed: int) -> np.ndarray:
    """The rollback checker's log ratio of every row, by a checker that has seen no row of its condition."""
    checked = np.empty(len(rows))
    for train, test in fold_conditions(rows, seed):
        checked[test] = fit_checker(rows.iloc[train]).estimate(comparisons.take(test))
    return checked
