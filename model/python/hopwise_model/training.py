"""Chooses settings by cost on held-out conditions, judges them on other conditions, and fits the model to all."""

from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from .costs import compute_costs, keep_comparable, mean_costs
from .errors import InputError
from .features import FEATURES, RECOGNITION_WINDOW_S, compute_features
from .learner import Learner
from .model_store import Model
from .request_log import QUIC, TCP, RequestLog
from .validation import GRID, predict_held_out, split_conditions

# Fewer conditions leave no fold with both outcomes.
MIN_CONDITIONS = 20


def train_model(log: RequestLog, seed: int, report: Callable[[str], None]) -> Model:
    """Trains on a log; `report` receives a line of progress per setting.

    Raises InputError if the log has fewer than `MIN_CONDITIONS` conditions under both protocols.
    """
    rows = keep_comparable(log.rows)
    conditions = rows["condition"].nunique()
    if conditions < MIN_CONDITIONS:
        raise InputError(f"expected at least {MIN_CONDITIONS} network conditions, found {conditions}")
    features, costs = compute_features(rows), compute_costs(rows)
    protocols = rows["protocol"].to_numpy()
    select, test = split_conditions(rows, seed)

    grid = []
    for step, settings in enumerate(GRID, start=1):
        predicted = predict_held_out(
            lambda: Learner(settings), features[select], rows[select], costs[select], seed
        )
        scored = mean_costs(costs[select], predicted > 0)
        grid.append({**asdict(settings), "chosenMs": scored["chosenMs"]})
        report(f"{step}/{len(GRID)} {settings}: {scored['chosenMs']:.1f} ms, oracle {scored['oracleMs']:.1f} ms")
    best = GRID[int(np.argmin([entry["chosenMs"] for entry in grid]))]

    judged = Learner(best).fit(features[select], protocols[select], costs[select])
    held_out = mean_costs(costs[test], judged.predict(features[test], protocols[test]) > 0)
    report(f"kept {best}; fitting to all {len(rows)} requests")
    final = Learner(best).fit(features, protocols, costs)
    card = {
        "requests": len(rows),
        "skipped": log.skipped,
        "conditions": conditions,
        "testConditions": int(rows.loc[test, "condition"].nunique()),
        "recognitionWindowS": RECOGNITION_WINDOW_S,
        "grid": grid,
        "heldOut": held_out,
        "importances": importances_of(final),
    }
    return Model(final, card)


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
