"""Trees on top of the emulator: it predicts from cause, they correct from experience. The decision stays unless they are better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import Booster, DMatrix
from xgboost import train as boost

from .errors import InputError
from .stacking_rows import PROTOCOLS, StackingRows

# Shares of users whose UDP is hindered, as hopwise assumes them before it has seen anything (`pageload-emulator/src/network/udp-prior.ts`,
# after Langley et al., SIGCOMM 2017, section 7.2). The gauntlet draws such networks far more often.
SURVEYED = {"blocked": 0.044, "policed": 0.956 * 0.015}
# Trees lower the expected regret up to this one: a few pages that take many times as long would hide all others.
MOST_REGRET = 1.0
# Shallow and few, as there are about a thousand rows. Fixed: nothing is chosen on what judges.
PARAMETERS = {
    "objective": "multi:softprob",
    "num_class": len(PROTOCOLS),
    "disable_default_eval_metric": 1,
    "max_depth": 3,
    "eta": 0.06,
    "min_child_weight": 0.1,
    "subsample": 0.7,
    "colsample_bytree": 0.5,
    "seed": 1,
    "nthread": 1,
}
# Trees that begin with the decision need fewer steps. That it is right is e times as likely for them as each other protocol.
ROUNDS, ROUNDS_FROM_DECISION = 150, 60
TRUST = 1.0
# Inverse of the logistic regression's penalty.
LOGISTIC_C = 0.1
WEIGHTINGS = ("drawn", "surveyed")
# They are listed from the simplest to the least simple.
CHOOSERS = ("decision", "constant", "logistic", "trees", "stacked")

Chooser = Callable[[StackingRows], np.ndarray]


def judge_stacking(train: StackingRows, judged: dict[str, StackingRows]) -> dict:
    """Mean regret of each chooser on rows whose pages and networks it has not seen, and what is beyond that of the decision.

    `judged` has rows by name, `validation` and `measured` among them. Choosers learn and are judged twice: `drawn` with networks as often
    as the gauntlet draws them, `surveyed` with hindered UDP as often as users have it. `kept` is the decision, unless another chooser in
    both gains more than the standard error on validation and loses nothing on the measured rows; what gains in the first alone has
    learned the gauntlet's shares. Errors are standard errors over pages. Raises InputError with rows to judge that share a page or a
    network with those learned from, and rows to learn from that lack a protocol's time.
    """
    for name, rows in judged.items():
        shared = np.isin(rows.pages, train.pages) | np.isin(rows.networks, train.networks)
        if shared.any():
            raise InputError(f"{name}: expected other pages and networks than those learned from, found {rows.pages[shared][0]}")
    if np.isnan(train.costs).any():
        raise InputError("expected rows to learn from that have every protocol in costMs")
    result: dict = {"rows": len(train), "pages": len(np.unique(train.pages))}
    for weighting in WEIGHTINGS:
        surveyed = weighting == "surveyed"
        choosers = learn_choosers(train, weigh(train, surveyed))
        result[weighting] = {}
        for name, rows in judged.items():
            choices = {chooser: choose(rows) for chooser, choose in choosers.items()}
            result[weighting][name] = _judge(rows, weigh(rows, surveyed and name != "measured"), choices)
    result["kept"] = _keep([result[weighting] for weighting in WEIGHTINGS])
    return result


def weigh(rows: StackingRows, surveyed: bool) -> np.ndarray:
    """A weight for each row, 1 on average; with `surveyed`, those that give hindered networks the share that users have."""
    weights = np.ones(len(rows))
    if not surveyed:
        return weights
    hindered = np.isin(rows.udp, list(SURVEYED))
    for kind, share in SURVEYED.items():
        own = rows.udp == kind
        weights[own] = share / max(own.mean(), np.finfo(float).tiny)
    weights[~hindered] = (1 - sum(SURVEYED.values())) / (~hindered).mean()
    return weights / weights.mean()


def learn_choosers(train: StackingRows, weights: np.ndarray) -> dict[str, Chooser]:
    """What chooses, as functions from rows to indices of protocols; `rule` knows what happens to UDP without an error."""
    regrets = train.regrets
    constants = {
        recorded: int(np.average(regrets[own], axis=0, weights=weights[own]).argmin())
        for recorded in np.unique(train.recorded)
        if (own := train.recorded == recorded).any()
    }
    overall = int(np.average(regrets, axis=0, weights=weights).argmin())
    # What is lost by not choosing the best.
    stake = weights * np.sort(regrets, axis=1)[:, 1]
    logistic = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
        LogisticRegression(C=LOGISTIC_C, max_iter=2_000),
    ).fit(train.features, regrets.argmin(axis=1), logisticregression__sample_weight=stake / stake.mean())
    trees = _boost(train, weights, None, ROUNDS)
    stacked = _boost(train, weights, _trust(train), ROUNDS_FROM_DECISION)
    return {
        "rule": lambda rows: rows.rule,
        "decision": lambda rows: rows.decision,
        "constant": lambda rows: np.array([constants.get(recorded, overall) for recorded in rows.recorded]),
        "logistic": lambda rows: logistic.predict(rows.features),
        "trees": lambda rows: _prefer(trees, rows, None),
        "stacked": lambda rows: _prefer(stacked, rows, _trust(rows)),
    }


def _trust(rows: StackingRows) -> np.ndarray:
    margins = np.zeros((len(rows), len(PROTOCOLS)))
    margins[np.arange(len(rows)), rows.decision] = TRUST
    return margins


def _boost(train: StackingRows, weights: np.ndarray, start: np.ndarray | None, rounds: int) -> Booster:
    """Boosts the probabilities with which each protocol is chosen, by the gradient of the expected regret."""
    regrets = np.minimum(train.regrets, MOST_REGRET)

    def lower_regret(margins: np.ndarray, _) -> tuple[np.ndarray, np.ndarray]:
        chances = np.exp(margins - margins.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        expected = (chances * regrets).sum(axis=1, keepdims=True)
        own = weights[:, None] * chances
        # The true second derivative may be negative: this one keeps steps small.
        return own * (regrets - expected), np.maximum(0.1 * own * (1 - chances), 1e-4)

    return boost(PARAMETERS, _matrix(train, start), rounds, obj=lower_regret)


def _prefer(trees: Booster, rows: StackingRows, start: np.ndarray | None) -> np.ndarray:
    return trees.predict(_matrix(rows, start), output_margin=True).argmax(axis=1)


def _matrix(rows: StackingRows, start: np.ndarray | None) -> DMatrix:
    matrix = DMatrix(rows.features, label=np.zeros(len(rows)), nthread=1)
    matrix.set_base_margin(np.zeros((len(rows), len(PROTOCOLS))) if start is None else start)
    return matrix


def _judge(rows: StackingRows, weights: np.ndarray, choices: dict[str, np.ndarray]) -> dict:
    index = np.arange(len(rows))
    regrets = rows.regrets
    of_decision = regrets[index, rows.decision]
    _, page = np.unique(rows.pages, return_inverse=True)
    choosers = {}
    for name, choice in choices.items():
        own = regrets[index, choice]
        over = own - of_decision
        sums = np.bincount(page, over * weights)
        choosers[name] = {
            "regret": float(np.average(own, weights=weights)),
            "overDecision": float(np.average(over, weights=weights)),
            "error": float(sums.std(ddof=1) * np.sqrt(len(sums)) / weights.sum()) if len(sums) > 1 else 0.0,
            "byRecorded": {
                str(recorded): float(np.average(over[as_recorded], weights=weights[as_recorded]))
                for recorded in np.unique(rows.recorded)
                if (as_recorded := rows.recorded == recorded).any()
            },
        }
    return {"rows": len(rows), "pages": int(page.max()) + 1, "choosers": choosers}


def _keep(results: list[dict]) -> str:
    """A less simple chooser replaces a simpler one only where it gains more."""
    kept = CHOOSERS[0]
    for name in CHOOSERS[1:]:
        validation = [result["validation"]["choosers"] for result in results]
        is_clear = all(
            own[name]["overDecision"] < -own[name]["error"] and own[name]["regret"] < own[kept]["regret"] for own in validation
        )
        if is_clear and all(result["measured"]["choosers"][name]["overDecision"] <= 0 for result in results):
            kept = name
    return kept
