"""Trains the extension's trees on measured sessions, and judges them where page, network and stack of servers are held out together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from .errors import InputError
from .evaluation import CANDIDATES
from .features import RECOGNITION_WINDOW_S, compute_features
from .learner import Learner, Settings
from .request_log import QUIC, TCP
from .session_table import Sessions

FOLDS = 5
# Fewer leave folds without a change of each kind.
MIN_CONDITIONS = 20
GRID = [
    Settings(max_depth, min_child_weight, joint)
    for joint in (True, False)
    for max_depth in (3, 5)
    for min_child_weight in (10, 300)
]
NAMES = {TCP: "tcp", QUIC: "quic"}
CALIBRATION_BINS = 5


@dataclass(frozen=True)
class TrainingRows:
    """A row for each measured exchange; `costs` are its cell's, shape (rows, 2)."""

    features: np.ndarray
    protocols: np.ndarray
    cell: np.ndarray
    costs: np.ndarray

    def take(self, chosen: np.ndarray) -> TrainingRows:
        return TrainingRows(self.features[chosen], self.protocols[chosen], self.cell[chosen], self.costs[chosen])


def prepare_rows(sessions: Sessions, window_s: float = RECOGNITION_WINDOW_S) -> TrainingRows:
    """Computes the features of each measured exchange from the session until then."""
    measured = sessions.requests[sessions.requests["protocol"].notna()].reset_index(drop=True)
    cell = measured["cell"].to_numpy()
    return TrainingRows(
        compute_features(measured, window_s), measured["protocol"].to_numpy().astype(int), cell, sessions.costs[cell]
    )


def split_folds(cells: pd.DataFrame, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Masks of the cells to learn from and to judge: of other conditions, and of the other stacks where there are several."""
    conditions = np.sort(cells["condition"].unique())
    fold_of = dict(zip(np.random.default_rng(seed).permutation(conditions), np.arange(len(conditions)) % FOLDS))
    folds = cells["condition"].map(fold_of).to_numpy()
    stacks = cells["stack"].to_numpy()
    several = len(np.unique(stacks)) > 1
    for fold in range(FOLDS):
        for stack in np.unique(stacks):
            learned = (folds != fold) & (stacks != stack) if several else folds != fold
            yield learned, (folds == fold) & (stacks == stack)


def predict_held_out(make: Callable[[], Learner], rows: TrainingRows, cells: pd.DataFrame, seed: int) -> np.ndarray:
    """Predicts every row by a learner that has seen neither its condition nor its stack of servers."""
    predicted = np.empty(len(rows.cell), dtype=np.float32)
    for learned, judged in split_folds(cells, seed):
        train, test = rows.take(learned[rows.cell]), judged[rows.cell]
        learner = make().fit(train.features, train.protocols, train.costs)
        predicted[test] = learner.predict(rows.features[test], rows.protocols[test])
    return predicted


def cost_of_cells(rows: TrainingRows, use_quic: np.ndarray, protocol: int | None = None) -> np.ndarray:
    """What choices at the rows over one current transport, or over both, cost by cell, ms; NaN for cells without such rows."""
    cost = np.where(use_quic, rows.costs[:, QUIC], rows.costs[:, TCP])
    own = np.full(len(cost), True) if protocol is None else rows.protocols == protocol
    count = rows.cell.max() + 1
    sums, counts = np.bincount(rows.cell[own], cost[own], count), np.bincount(rows.cell[own], minlength=count)
    return np.divide(sums, counts, out=np.full(count, np.nan), where=counts > 0)


def choose_by_rule(cells: pd.DataFrame, rows: TrainingRows) -> np.ndarray:
    """QUIC unless hindered, by what the network really does to UDP."""
    return ~cells["is_hindered"].to_numpy()[rows.cell]


def summarise(rows: TrainingRows, cells: pd.DataFrame, choices: dict[str, np.ndarray]) -> dict[str, float]:
    """Mean request times in ms over cells, each of which counts the same: of choices, fixed rules and the best choice."""
    fixed = {
        "always TCP": np.full(len(rows.cell), False),
        "always QUIC": np.full(len(rows.cell), True),
        "QUIC unless hindered": choose_by_rule(cells, rows),
    }
    best = rows.costs[:, QUIC] < rows.costs[:, TCP]
    every = {**choices, **fixed, "best choice": best}
    return {name: float(np.nanmean(cost_of_cells(rows, use_quic))) for name, use_quic in every.items()}


@dataclass(frozen=True)
class Comparison:
    """Mean difference in ms between choices and the rule, and its standard error over conditions."""

    difference_ms: float
    error_ms: float

    @property
    def is_clear(self) -> bool:
        return self.difference_ms < -self.error_ms


def compare_to_rule(rows: TrainingRows, cells: pd.DataFrame, use_quic: np.ndarray, protocol: int) -> Comparison:
    """Compares choices at the rows over one transport with QUIC unless hindered; stacks and phases of one condition go together."""
    difference = cost_of_cells(rows, use_quic, protocol) - cost_of_cells(rows, choose_by_rule(cells, rows), protocol)
    means = pd.Series(difference).groupby(cells["condition"].to_numpy()[: len(difference)]).mean().dropna().to_numpy()
    return Comparison(float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means))))


def choose_settings(
    rows: TrainingRows, cells: pd.DataFrame, seed: int, report: Callable[[str], None]
) -> tuple[Settings, np.ndarray, dict[str, float]]:
    """The joint settings whose choices cost least on what is held out, their predictions, and the mean time of each setting.

    The extension loads one file: models per transport are judged beside.
    """
    times, predictions = {}, {}
    for settings in GRID:
        predictions[settings] = predict_held_out(lambda settings=settings: Learner(settings), rows, cells, seed)
        times[settings] = summarise(rows, cells, {"trees": predictions[settings] > 0})["trees"]
        report(f"{describe(settings)}: {times[settings]:.1f} ms")
    best = min((settings for settings in GRID if settings.joint), key=times.__getitem__)
    return best, predictions[best], {describe(settings): time for settings, time in times.items()}


def describe(settings: Settings) -> str:
    kind = "joint" if settings.joint else "per transport"
    return f"boosted trees, {kind}, depth {settings.max_depth}, child weight {settings.min_child_weight}"


def judge_candidates(
    rows: TrainingRows, cells: pd.DataFrame, seed: int, report: Callable[[str], None]
) -> dict[str, float]:
    """Mean request times of the other learners of WiseTrans's Table 2, in ms."""
    times = {}
    for name, make in CANDIDATES.items():
        times[name] = summarise(rows, cells, {name: predict_held_out(make, rows, cells, seed) > 0})[name]
        report(f"{name}: {times[name]:.1f} ms")
    return times


def calibrate(predicted: np.ndarray, rows: TrainingRows) -> tuple[float, float]:
    """Slope and offset of the log odds that QUIC is faster, given a held-out prediction."""
    is_faster = rows.costs[:, QUIC] < rows.costs[:, TCP]
    fitted = LogisticRegression().fit(predicted[:, None], is_faster)
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def judge_calibration(predicted: np.ndarray, rows: TrainingRows, calibration: tuple[float, float]) -> dict:
    """Brier score of the probabilities, that of the share alone, and stated and true shares in bins of equal size."""
    is_faster = rows.costs[:, QUIC] < rows.costs[:, TCP]
    slope, offset = calibration
    stated = 1 / (1 + np.exp(-(slope * predicted + offset)))
    bins = np.array_split(np.argsort(stated, kind="stable"), CALIBRATION_BINS)
    return {
        "brier": float(np.mean((stated - is_faster) ** 2)),
        "brierOfShare": float(np.mean((is_faster.mean() - is_faster) ** 2)),
        "bins": [{"stated": float(stated[each].mean()), "true": float(is_faster[each].mean())} for each in bins],
    }


def require_conditions(cells: pd.DataFrame, path: str) -> None:
    """Raises InputError if a table has fewer than `MIN_CONDITIONS` conditions of the train split."""
    count = cells.loc[cells["split"] == "train", "condition"].nunique()
    if count < MIN_CONDITIONS:
        raise InputError(f"{path}: expected at least {MIN_CONDITIONS} conditions of the train split, found {count}")
