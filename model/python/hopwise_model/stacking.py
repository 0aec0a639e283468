"""Trees on top of the emulator: it predicts from cause, they correct from experience. The simpler one stays unless they are better."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from xgboost import XGBRegressor

from .errors import InputError
from .stacking_rows import PROTOCOLS, StackingRows

H2 = PROTOCOLS.index("h2")
OTHERS = tuple(index for index in range(len(PROTOCOLS)) if index != H2)
# The wait before a browser falls back from a protocol that cannot carry the page, ms: as in the bench's regret.
GIVE_UP_MS = 5_000.0
# Fewer pages or networks cannot be held out.
MIN_GROUPS = 3
FOLDS = 3
BOOTSTRAPS = 2_000
# Shallow and few, as there are tens to hundreds of rows. Fixed: nothing is chosen on what judges.
PARAMETERS = {
    "max_depth": 2,
    "n_estimators": 60,
    "learning_rate": 0.1,
    "min_child_weight": 3,
    "subsample": 0.8,
    "base_score": 0.0,
    "random_state": 1,
    "n_jobs": 1,
}
# They are listed from the simplest to the least simple.
CHOOSERS = ("rule", "decision", "trees", "stacked")


def judge_stacking(
    rows: StackingRows, test: StackingRows | None, seed: int, report: Callable[[str], None]
) -> dict:
    """Mean regret of each chooser on rows whose pages and networks it has not seen, with 95% intervals over pages and networks.

    With `test`, trees learn from `rows` and are judged there; else by folds that hold out pages and networks at once. `kept`
    is the simplest chooser that no less simple one beats clearly. Raises InputError with too few pages or networks,
    or rows that cannot be learned from.
    """
    if test is None:
        judged, choices = _choose_in_folds(rows, seed, report)
    else:
        judged, choices = test, _choose(_unseen(rows, test), test)
    regrets = {name: _regret(judged.costs, choices[name]) for name in CHOOSERS}
    oracle = np.zeros(len(judged))
    kept = CHOOSERS[0]
    differences = {}
    for name in CHOOSERS[1:]:
        difference = _interval(regrets[name] - regrets[kept], judged, seed)
        differences[name] = {"than": kept, **difference}
        if difference["high"] < 0:
            kept = name
    return {
        "rows": len(judged),
        "pages": len(np.unique(judged.pages)),
        "networks": len(np.unique(judged.networks)),
        "regret": {name: _interval(values, judged, seed) for name, values in {**regrets, "oracle": oracle}.items()},
        "difference": differences,
        "kept": kept,
    }


def _unseen(rows: StackingRows, test: StackingRows) -> StackingRows:
    seen = np.isin(rows.pages, test.pages) | np.isin(rows.networks, test.networks)
    left = rows.take(~seen)
    if len(left) == 0:
        raise InputError("expected rows of other pages and networks than the test's, found none")
    return left


def _choose_in_folds(
    rows: StackingRows, seed: int, report: Callable[[str], None]
) -> tuple[StackingRows, dict[str, np.ndarray]]:
    judged, choices = [], []
    for step, (train, test) in enumerate(_folds(rows, seed), start=1):
        report(f"fold {step} of {FOLDS**2}: {train.sum()} rows to learn from, {test.sum()} to judge")
        if not test.any():
            continue
        if not train.any():
            raise InputError("expected rows of other pages and networks for each fold, found none")
        judged.append(np.flatnonzero(test))
        choices.append(_choose(rows.take(train), rows.take(test)))
    order = np.concatenate(judged)
    return rows.take(order), {name: np.concatenate([each[name] for each in choices]) for name in CHOOSERS}


def _folds(rows: StackingRows, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Masks of rows to learn from and to judge, which share neither page nor network; each row is judged once."""
    random = np.random.default_rng(seed)

    def parts(names: np.ndarray, what: str) -> list[np.ndarray]:
        groups = random.permutation(np.unique(names))
        if len(groups) < MIN_GROUPS:
            raise InputError(f"expected at least {MIN_GROUPS} {what}, found {len(groups)}")
        return [np.isin(names, part) for part in np.array_split(groups, FOLDS)]

    networks = parts(rows.networks, "networks")
    for of_pages in parts(rows.pages, "pages"):
        for of_networks in networks:
            yield ~of_pages & ~of_networks, of_pages & of_networks


def _choose(train: StackingRows, test: StackingRows) -> dict[str, np.ndarray]:
    """Index of the chosen protocol of each row to judge, by chooser."""
    ratios = _log_ratios(test.predicted)
    alone = _fit(train.features, None, train)
    stacked = _fit(np.column_stack([train.features, _log_ratios(train.predicted)]), _log_ratios(train.predicted), train)
    return {
        "rule": test.rule,
        "decision": test.decision,
        "trees": _fastest(_predict(alone, test.features, None), test.costs),
        "stacked": _fastest(_predict(stacked, np.column_stack([test.features, ratios]), ratios), test.costs),
    }


def _log_ratios(times: np.ndarray) -> np.ndarray:
    """log(time over protocol / time over HTTP/2) of `OTHERS`, shape (rows, 2); a protocol without a time falls back to the fastest."""
    filled = np.where(np.isnan(times), np.nanmin(times, axis=1, keepdims=True) + GIVE_UP_MS, times)
    return np.log(filled[:, OTHERS] / filled[:, [H2]])


def _fit(features: np.ndarray, start: np.ndarray | None, train: StackingRows) -> list[XGBRegressor]:
    """A model for each of `OTHERS`. `start`: what the trees begin with, so that they learn its error only."""
    models = []
    target = np.log(train.costs[:, OTHERS] / train.costs[:, [H2]])
    if np.isnan(target).all():
        raise InputError("expected rows to learn from that have HTTP/2 and another protocol in costMs, found none")
    # An error of the logarithm costs in proportion to the load time.
    weight = np.nanmin(train.costs, axis=1)
    for column in range(len(OTHERS)):
        usable = ~np.isnan(target[:, column])
        margin = None if start is None else start[usable, column]
        model = XGBRegressor(**PARAMETERS)
        models.append(
            model.fit(
                features[usable],
                target[usable, column],
                sample_weight=weight[usable] / weight[usable].mean(),
                base_margin=margin,
            )
        )
    return models


def _predict(models: list[XGBRegressor], features: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    return np.column_stack(
        [
            model.predict(features, base_margin=None if start is None else start[:, column])
            for column, model in enumerate(models)
        ]
    )


def _fastest(ratios: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Among the protocols that were measured, as for the other choosers."""
    scores = np.zeros(costs.shape)
    scores[:, OTHERS] = ratios
    return np.where(np.isnan(costs), np.inf, scores).argmin(axis=1)


def _regret(costs: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """Time of the choice over that of the best protocol, less 1."""
    return costs[np.arange(len(costs)), choice] / np.nanmin(costs, axis=1) - 1


def _interval(values: np.ndarray, judged: StackingRows, seed: int) -> dict[str, float]:
    """Mean, with a 95% bootstrap interval: pages and networks are drawn apart, as rows that share either resemble each other."""
    random = np.random.default_rng(seed)
    groups = []
    for names in (judged.pages, judged.networks):
        found, group = np.unique(names, return_inverse=True)
        groups.append((len(found), group))
    means = []
    while len(means) < BOOTSTRAPS:
        pages, networks = (np.bincount(random.integers(size, size=size), minlength=size)[group] for size, group in groups)
        weights = pages * networks
        if weights.any():
            means.append(np.average(values, weights=weights))
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}
