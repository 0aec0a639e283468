"""What a model's choices cost on a log."""

import numpy as np
import pandas as pd

from .costs import compute_costs, keep_comparable, mean_costs
from .features import compute_features
from .model_store import Model
from .request_log import RequestLog
from .rollback import compare_switches


def score_log(model: Model, log: RequestLog) -> dict[str, float]:
    """Mean request times in ms of the model's choices, of both fixed rules and of the best choice.

    A choice costs what its condition's requests took on average under the chosen protocol.
    """
    rows = keep_comparable(log.rows)
    return mean_costs(compute_costs(rows), choose(model, rows))


def choose(model: Model, rows: pd.DataFrame) -> np.ndarray:
    """Whether the model uses QUIC at each request, from the window that ends there and the last switch; never from the condition."""
    protocols = rows["protocol"].to_numpy()
    predicted = model.learner.predict(compute_features(rows), protocols)
    return model.policy.choose(protocols, predicted, model.checker.estimate(compare_switches(rows)))
