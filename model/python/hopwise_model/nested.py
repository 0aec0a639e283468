"""Judges the whole training by nested folds of conditions: what `train` chooses is chosen without those that judge it."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from .costs import compute_costs, tabulate_costs
from .features import compute_features
from .request_log import RequestLog
from .rollback import compare_switches
from .training import TrainingSet, choose_settings, judge, prepare
from .validation import fold_conditions


def judge_training(log: RequestLog, repeats: int, report: Callable[[str], None]) -> dict:
    """Mean request times in ms over all requests, for `repeats` seeds of the folds, and the folds that lose to always QUIC.

    Costs are means of the same requests that the choices are made from, and so is the oracle. In `otherHalf` the choices
    see half of each condition's requests and cost what the other half took; `knownConditionMs` is there what the
    faster protocol of the half that was seen costs. Raises InputError if the log has too few conditions.
    """
    data = prepare(log)
    results: dict[str, list[dict]] = {"allRequests": [], "otherHalf": []}
    losses = []
    for seed in range(1, repeats + 1):
        folds: dict[str, list[tuple[int, dict]]] = {name: [] for name in results}
        for fold, (train, test) in enumerate(fold_conditions(data.rows, seed), start=1):
            learned = data.take(train)
            settings, policy, _ = choose_settings(learned, seed, lambda line: None)
            judged = data.take(test)
            times = judge(learned, judged, settings, policy)
            half, known_ms = split_halves(judged.rows, seed)
            folds["allRequests"].append((len(test), times))
            folds["otherHalf"].append(
                (len(half.rows), {**judge(learned, half, settings, policy), "knownConditionMs": known_ms})
            )
            losses.append(times["chosenMs"] / times["alwaysQuicMs"] - 1)
            report(
                f"seed {seed}, fold {fold}: {times['chosenMs']:.1f} ms, always QUIC {times['alwaysQuicMs']:.1f} ms; "
                f"{settings}, {policy}"
            )
        for name, parts in folds.items():
            results[name].append(_mean_of(parts))
    return {
        **{name: _summarize(seeds) for name, seeds in results.items()},
        "folds": len(losses),
        "foldsWorseThanAlwaysQuic": sum(loss > 0 for loss in losses),
        "worstFoldOverAlwaysQuic": max(losses),
    }


def split_halves(rows: pd.DataFrame, seed: int) -> tuple[TrainingSet, float]:
    """A random half of each condition's requests with the costs of the other half, and what knowing the first half costs, ms."""
    draws = pd.Series(np.random.default_rng(seed).random(len(rows)), rows.index)
    is_seen = draws.groupby([rows["condition"], rows["protocol"]]).rank(pct=True) <= 0.5
    seen = rows[is_seen].reset_index(drop=True)
    costs = tabulate_costs(rows[~is_seen]).loc[seen["condition"]].to_numpy()
    known = compute_costs(seen).argmin(axis=1)
    known_ms = float(costs[np.arange(len(seen)), known].mean())
    return TrainingSet(seen, compute_features(seen), compare_switches(seen), costs), known_ms


def _mean_of(parts: list[tuple[int, dict[str, float]]]) -> dict[str, float]:
    """Means over all rows, from those over the rows of each fold."""
    counts = [count for count, _ in parts]
    return {name: float(np.average([times[name] for _, times in parts], weights=counts)) for name in parts[0][1]}


def _summarize(seeds: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Median, lowest and highest of the seeds."""
    values = {name: [times[name] for times in seeds] for name in seeds[0]}
    values["overOracle"] = [times["chosenMs"] / times["oracleMs"] - 1 for times in seeds]
    values["overAlwaysQuic"] = [times["chosenMs"] / times["alwaysQuicMs"] - 1 for times in seeds]
    return {
        name: {"median": float(np.median(each)), "lowest": min(each), "highest": max(each)}
        for name, each in values.items()
    }
