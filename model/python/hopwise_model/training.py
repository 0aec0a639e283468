"""Chooses settings and policy by cost on held-out conditions, judges them on other conditions, and fits the model to all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .choice import Policy, choose_policy
from .costs import compute_costs, keep_comparable, mean_costs
from .errors import InputError
from .features import FEATURES, RECOGNITION_WINDOW_S, compute_features
from .learner import Learner, Settings
from .model_store import Model
from .request_log import QUIC, TCP, RequestLog
from .rollback import Comparisons, compare_switches, fit_checker
from .validation import GRID, check_held_out, predict_held_out, split_conditions

if TYPE_CHECKING:
    from distributed import Client

# Fewer conditions leave no fold with both outcomes.
MIN_CONDITIONS = 20


@dataclass(frozen=True)
class TrainingSet:
    """Rows in order of time with what is computed from them, all of the same length."""

    rows: pd.DataFrame
    features: np.ndarray
    comparisons: Comparisons
    costs: np.ndarray

    def take(self, chosen: np.ndarray) -> TrainingSet:
        """Some rows, with what was computed from all."""
        return TrainingSet(
            self.rows.iloc[chosen].reset_index(drop=True),
            self.features[chosen],
            self.comparisons.take(chosen),
            self.costs[chosen],
        )

    @property
    def protocols(self) -> np.ndarray:
        return self.rows["protocol"].to_numpy()


def prepare(log: RequestLog) -> TrainingSet:
    """Raises InputError if the log has fewer than `MIN_CONDITIONS` conditions under both protocols."""
    rows = keep_comparable(log.rows)
    conditions = rows["condition"].nunique()
    if conditions < MIN_CONDITIONS:
        raise InputError(f"expected at least {MIN_CONDITIONS} network conditions, found {conditions}")
    return TrainingSet(rows, compute_features(rows), compare_switches(rows), compute_costs(rows))


def train_model(
    log: RequestLog, seed: int, report: Callable[[str], None], client: Client | None = None
) -> Model:
    """Trains on a log; `report` receives a line of progress per setting.

    With a client of a Dask cluster its workers try the settings side by side, with the figures of one process, and share
    the fit to all rows.

    Raises InputError if the log has fewer than `MIN_CONDITIONS` conditions under both protocols.
    """
    data = prepare(log)
    select, test = (data.take(mask) for mask in split_conditions(data.rows, seed))
    settings, policy, grid = choose_settings(select, seed, report, client)
    held_out = judge(select, test, settings, policy)
    report(f"kept {settings}, {policy}; fitting to all {len(data.rows)} requests")
    final = Learner(settings).fit(data.features, data.protocols, data.costs, client)
    card = {
        "requests": len(data.rows),
        "skipped": log.skipped,
        "conditions": int(data.rows["condition"].nunique()),
        "testConditions": int(test.rows["condition"].nunique()),
        "recognitionWindowS": RECOGNITION_WINDOW_S,
        "workers": 1 if client is None else len(client.nthreads()),
        "grid": grid,
        "heldOut": held_out,
        "policy": policy.describe(),
        "importances": importances_of(final),
    }
    return Model(final, fit_checker(data.rows), policy, card)


def choose_settings(
    data: TrainingSet, seed: int, report: Callable[[str], None], client: Client | None = None
) -> tuple[Settings, Policy, list[dict]]:
    """The settings whose choices cost least on conditions held out, their policy, and the cost of each setting."""
    grid, policies = [], []
    for step, (settings, (policy, scored)) in enumerate(_score_grid(data, seed, client), start=1):
        grid.append({**asdict(settings), "treesMs": scored["treesMs"], "chosenMs": scored["chosenMs"]})
        policies.append(policy)
        report(
            f"{step}/{len(GRID)} {settings}: {scored['chosenMs']:.1f} ms (trees alone {scored['treesMs']:.1f} ms, "
            f"always QUIC {scored['alwaysQuicMs']:.1f} ms, oracle {scored['oracleMs']:.1f} ms)"
        )
    best = int(np.argmin([entry["chosenMs"] for entry in grid]))
    return GRID[best], policies[best], grid


def judge(train: TrainingSet, test: TrainingSet, settings: Settings, policy: Policy) -> dict[str, float]:
    """Mean request times in ms of a model that learned from `train` on `test`; `treesMs` is without policy and checker."""
    predicted = Learner(settings).fit(train.features, train.protocols, train.costs).predict(test.features, test.protocols)
    checked = fit_checker(train.rows).estimate(test.comparisons)
    return _mean_times(test, predicted, policy.choose(test.protocols, predicted, checked))


def _mean_times(data: TrainingSet, predicted: np.ndarray, use_quic: np.ndarray) -> dict[str, float]:
    return {**mean_costs(data.costs, use_quic), "treesMs": mean_costs(data.costs, predicted > 0)["chosenMs"]}


def _score_grid(
    data: TrainingSet, seed: int, client: Client | None
) -> Iterator[tuple[Settings, tuple[Policy, dict[str, float]]]]:
    """Policy and mean request times of each setting, in order."""
    if client is None:
        for settings in GRID:
            yield settings, _score_settings(settings, data, seed)
        return
    sent = client.scatter(data, broadcast=True, hash=False)
    scores = [client.submit(_score_settings, settings, sent, seed, pure=False) for settings in GRID]
    for settings, scored in zip(GRID, scores):
        yield settings, scored.result()


def _score_settings(settings: Settings, data: TrainingSet, seed: int) -> tuple[Policy, dict[str, float]]:
    predicted = predict_held_out(lambda: Learner(settings), data.features, data.rows, data.costs, seed)
    checked = check_held_out(data.comparisons, data.rows, seed)
    policy = choose_policy(data.protocols, data.rows["condition"].to_numpy(), data.costs, predicted, checked)
    return policy, _mean_times(data, predicted, policy.choose(data.protocols, predicted, checked))


def importances_of(learner: Learner) -> dict[str, dict[str, float]]:
    """Share of the total gain by feature, per model (Table 1)."""
    names = [*FEATURES, "protocol"] if learner.settings.joint else list(FEATURES)
    if learner.settings.joint:
        models = {"joint": learner.models[TCP]}
    else:
        models = {"tcp": learner.models[TCP], "quic": learner.models[QUIC]}
    return {
        which: {name: float(share) for name, share in zip(names, model.feature_importances_)}
        for which, model in models.items()
    }
