"""What a model's choices cost on a log."""

from .costs import compute_costs, keep_comparable, mean_costs
from .features import compute_features
from .model_store import Model
from .request_log import RequestLog


def score_log(model: Model, log: RequestLog) -> dict[str, float]:
    """Mean request times in ms of the model's choices, of both fixed rules and of the best choice.

    A choice uses the features of the window that ends with its request, and never the condition. It costs what its
    condition's requests took on average under the chosen protocol.
    """
    rows = keep_comparable(log.rows)
    predicted = model.learner.predict(compute_features(rows), rows["protocol"].to_numpy())
    return mean_costs(compute_costs(rows), predicted > 0)
