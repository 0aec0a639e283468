"""Chooses settings by cost on held-out conditions, judges them on other conditions, and fits the model to all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .costs import compute_costs, keep_comparable, mean_costs
from .errors import InputError
from .features import FEATURES, RECOGNITION_WINDOW_S, compute_features
from .learner import Learner, Settings
from .model_store import Model
from .request_log import QUIC, TCP, RequestLog
from .validation import GRID, predict_held_out, split_conditions

if TYPE_CHECKING:
    from distributed import Client

# Fewer conditions leave no fold with both outcomes.
MIN_CONDITIONS = 20


def train_model(
    log: RequestLog, seed: int, report: Callable[[str], None], client: Client | None = None
) -> Model:
    """Trains on a log; `report` receives a line of progress per setting.

    With a client of a Dask cluster its workers try the settings side by side, with the figures of one process, and share
    the fit to all rows.

    Raises InputError if the log has fewer than `MIN_CONDITIONS` conditions under both protocols.
    """
    rows = keep_comparable(log.rows)
    conditions = rows["condition"].nunique()
    if conditions < MIN_CONDITIONS:
        raise InputError(f"expected at least {MIN_CONDITIONS} network conditions, found {conditions}")
    features, costs = compute_features(rows), compute_costs(rows)
    protocols = rows["protocol"].to_numpy()
    select, test = split_conditions(rows, seed)

    selected = (features[select], rows[select], costs[select], seed)
    grid = []
    for step, (settings, scored) in enumerate(_score_grid(selected, client), start=1):
        grid.append({**asdict(settings), "chosenMs": scored["chosenMs"]})
        report(f"{step}/{len(GRID)} {settings}: {scored['chosenMs']:.1f} ms, oracle {scored['oracleMs']:.1f} ms")
    best = GRID[int(np.argmin([entry["chosenMs"] for entry in grid]))]

    judged = Learner(best).fit(features[select], protocols[select], costs[select])
    held_out = mean_costs(costs[test], judged.predict(features[test], protocols[test]) > 0)
    report(f"kept {best}; fitting to all {len(rows)} requests")
    final = Learner(best).fit(features, protocols, costs, client)
    card = {
        "requests": len(rows),
        "skipped": log.skipped,
        "conditions": conditions,
        "testConditions": int(rows.loc[test, "condition"].nunique()),
        "recognitionWindowS": RECOGNITION_WINDOW_S,
        "workers": 1 if client is None else len(client.nthreads()),
        "grid": grid,
        "heldOut": held_out,
        "importances": importances_of(final),
    }
    return Model(final, card)


def _score_grid(selected: tuple, client: Client | None) -> Iterator[tuple[Settings, dict]]:
    """Mean costs of each setting, in order."""
    if client is None:
        for settings in GRID:
            yield settings, _score_settings(settings, *selected)
        return
    data = client.scatter(selected, broadcast=True, hash=False)
    scores = [client.submit(_score_settings, settings, *data, pure=False) for settings in GRID]
    for settings, scored in zip(GRID, scores):
        yield settings, scored.result()


def _score_settings(
    settings: Settings, features: np.ndarray, rows: pd.DataFrame, costs: np.ndarray, seed: int
) -> dict[str, float]:
    predicted = predict_held_out(lambda: Learner(settings), features, rows, costs, seed)
    return mean_costs(costs, predicted > 0)


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
