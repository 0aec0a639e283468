"""WiseTrans's classifiers (Tables 1, 2 and 4, Figure 13) on a log, by random rows and by conditions held out."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from .costs import compute_costs, keep_comparable, mean_costs
from .evaluation import MAX_SVM_ROWS
from .features import FEATURES, compute_features
from .request_log import QUIC, TCP, RequestLog
from .rollback import compare_switches
from .validation import check_held_out

PROTOCOLS = {"tcp": TCP, "quic": QUIC}
# Section 4.1.1.
MAX_DEPTH, MIN_CHILD_WEIGHT = 7, 1
# Figure 13's kept depth, and depths on both sides of it.
DEPTHS = (3, 5, 7, 9)


def new_xgboost(max_depth: int = MAX_DEPTH) -> XGBClassifier:
    return XGBClassifier(max_depth=max_depth, min_child_weight=MIN_CHILD_WEIGHT, random_state=1, n_jobs=1)


CANDIDATES: dict[str, Callable] = {
    "svm": lambda: make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), SVC()),
    "decisionTree": lambda: make_pipeline(
        SimpleImputer(keep_empty_features=True), DecisionTreeClassifier(max_depth=MAX_DEPTH, random_state=1)
    ),
    "randomForest": lambda: make_pipeline(
        SimpleImputer(keep_empty_features=True),
        RandomForestClassifier(50, max_depth=MAX_DEPTH, random_state=1, n_jobs=1),
    ),
    "xgboost": new_xgboost,
}


def reproduce_tables(log: RequestLog, folds: int, seed: int, report: Callable[[str], None]) -> dict:
    """Accuracies by split, candidate and current protocol; by depth; after switches, with and without the rollback checker;
    importances; and what the choices cost.

    The label is the protocol with the shorter mean request time in the row's condition, as the paper names no margin.
    Rows of one condition share their label and much of their features: random folds let a classifier recognise
    the condition, folds of whole conditions do not.
    """
    rows = keep_comparable(log.rows)
    features, costs, protocols = compute_features(rows), compute_costs(rows), rows["protocol"].to_numpy()
    is_quic_faster = costs[:, TCP] > costs[:, QUIC]

    def choose(name: str, split: str, make: Callable) -> np.ndarray:
        chosen = np.empty(len(rows), dtype=bool)
        for protocol in PROTOCOLS.values():
            own = np.flatnonzero(protocols == protocol)
            limit = MAX_SVM_ROWS if name == "svm" else None
            chosen[own] = predict_by_folds(
                make, features[own], is_quic_faster[own], rows["condition"].iloc[own], split, folds, seed, limit
            )
        return chosen

    def judge(name: str, split: str, make: Callable) -> dict[str, float]:
        chosen = choose(name, split, make)
        accuracies = {
            protocol_name: _share((chosen == is_quic_faster)[protocols == protocol])
            for protocol_name, protocol in PROTOCOLS.items()
        }
        report(f"{name}, {split}: " + ", ".join(f"{key} {value:.4f}" for key, value in accuracies.items()))
        return {**accuracies, **mean_costs(costs, chosen)}

    def judge_rollback() -> dict[str, dict[str, float]]:
        """Counts the requests since a switch by protocol, with the share chosen rightly."""
        checked = check_held_out(compare_switches(rows), rows, seed)
        chosen = choose("xgboost", "heldOutConditions", new_xgboost)
        judged = {}
        for protocol_name, protocol in PROTOCOLS.items():
            own = (protocols == protocol) & ~np.isnan(checked)
            judged[protocol_name] = {
                "requests": int(own.sum()),
                "without": _share(chosen[own] == is_quic_faster[own]),
                "with": _share((checked[own] > 0) == is_quic_faster[own]),
            }
        return judged

    splits = ("randomRows", "heldOutConditions")
    share = {name: _share(is_quic_faster[protocols == protocol]) for name, protocol in PROTOCOLS.items()}
    return {
        "requests": len(rows),
        "conditions": int(rows["condition"].nunique()),
        "majorityAccuracy": {name: max(value, 1 - value) for name, value in share.items()},
        "candidates": {split: {name: judge(name, split, make) for name, make in CANDIDATES.items()} for split in splits},
        "depths": {
            split: {str(depth): judge(f"depth {depth}", split, lambda: new_xgboost(depth)) for depth in DEPTHS}
            for split in splits
        },
        "rollback": judge_rollback(),
        "importances": {
            name: importances_of(features[own], is_quic_faster[own])
            for name, protocol in PROTOCOLS.items()
            for own in [protocols == protocol]
        },
    }


def _share(values: np.ndarray) -> float | None:
    """Share of true values; None if there are none."""
    return float(values.mean()) if len(values) > 0 else None


def predict_by_folds(
    make: Callable,
    features: np.ndarray,
    labels: np.ndarray,
    conditions: pd.Series,
    split: str,
    folds: int,
    seed: int,
    max_rows: int | None = None,
) -> np.ndarray:
    """Predicts each row by a classifier that has not seen it, nor its condition where those are held out."""
    by_condition = split == "heldOutConditions"
    splitter = (GroupKFold if by_condition else KFold)(folds, shuffle=True, random_state=seed)
    predicted = np.empty(len(labels), dtype=bool)
    for train, test in splitter.split(features, groups=conditions if by_condition else None):
        if max_rows and len(train) > max_rows:
            train = np.random.default_rng(seed).choice(train, max_rows, replace=False)
        if labels[train].min() == labels[train].max():
            predicted[test] = labels[train[0]]
        else:
            predicted[test] = make().fit(features[train], labels[train]).predict(features[test])
    return predicted


def importances_of(features: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Share of the total gain by feature (Table 1)."""
    model = new_xgboost().fit(features, labels)
    return {name: float(share) for name, share in zip(FEATURES, model.feature_importances_)}
