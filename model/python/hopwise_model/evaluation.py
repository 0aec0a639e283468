"""Compares learners as WiseTrans's Table 2 does, and shows how the result depends on windows (Figure 14)."""

from collections.abc import Callable

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from .costs import compute_costs, keep_comparable, mean_costs
from .features import compute_features
from .learner import Learner, Settings
from .request_log import QUIC, TCP, RequestLog
from .validation import predict_held_out

WINDOWS_S = (0, 5, 30, 60)
# Training time of an SVM grows with the square of the rows.
MAX_SVM_ROWS = 3000


class WeightedClassifiers:
    """One scikit-learn classifier per current protocol, trained with each row's cost of a wrong choice as its weight."""

    def __init__(self, make: Callable, weight_parameter: str, max_rows: int | None = None):
        self.make, self.weight_parameter, self.max_rows = make, weight_parameter, max_rows
        self.models = {}

    def fit(self, features: np.ndarray, protocols: np.ndarray, costs: np.ndarray) -> "WeightedClassifiers":
        gain = costs[:, TCP] - costs[:, QUIC]
        for protocol in (TCP, QUIC):
            rows = np.flatnonzero(protocols == protocol)
            if self.max_rows and len(rows) > self.max_rows:
                rows = np.random.default_rng(1).choice(rows, self.max_rows, replace=False)
            scaled = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), self.make())
            weights = {self.weight_parameter: np.abs(gain[rows]) / np.abs(gain[rows]).mean()}
            self.models[protocol] = scaled.fit(features[rows], gain[rows] > 0, **weights)
        return self

    def predict(self, features: np.ndarray, protocols: np.ndarray) -> np.ndarray:
        """1 where QUIC is chosen, -1 elsewhere."""
        chosen = np.empty(len(features))
        for protocol in (TCP, QUIC):
            rows = protocols == protocol
            if rows.any():
                chosen[rows] = self.models[protocol].predict(features[rows]) * 2 - 1
        return chosen


CANDIDATES = {
    "SVM": lambda: WeightedClassifiers(lambda: SVC(), "svc__sample_weight", MAX_SVM_ROWS),
    "decision tree": lambda: WeightedClassifiers(
        lambda: DecisionTreeClassifier(max_depth=7, random_state=1), "decisiontreeclassifier__sample_weight"
    ),
    "random forest": lambda: WeightedClassifiers(
        lambda: RandomForestClassifier(50, min_samples_leaf=50, random_state=1, n_jobs=1),
        "randomforestclassifier__sample_weight",
    ),
}


def evaluate_log(log: RequestLog, settings: Settings, seed: int, report: Callable[[str], None]) -> dict:
    """Held-out mean request times and macro-F1 of each learner, and of the trees by recognition window in seconds."""
    rows = keep_comparable(log.rows)
    costs = compute_costs(rows)

    def judge(make: Callable, window_s: float) -> dict:
        chosen = predict_held_out(make, compute_features(rows, window_s), rows, costs, seed) > 0
        return {
            **mean_costs(costs, chosen),
            "macroF1": float(f1_score(costs[:, TCP] > costs[:, QUIC], chosen, average="macro")),
        }

    windows = {}
    for window_s in WINDOWS_S:
        windows[str(window_s)] = judge(lambda: Learner(settings), window_s)
        report(f"trees, window {window_s} s: {windows[str(window_s)]['chosenMs']:.1f} ms")
    learners = {"gradient boosting": windows["30"]}
    for name, make in CANDIDATES.items():
        learners[name] = judge(make, 30)
        report(f"{name}: {learners[name]['chosenMs']:.1f} ms")
    return {"learners": learners, "recognitionWindowS": windows}
