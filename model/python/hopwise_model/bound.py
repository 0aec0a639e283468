"""What bounds choices on a log: how far who knows each network's figures, but has not measured it, stays above the best choice."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .costs import mean_costs
from .learner import Learner, Settings
from .request_log import QUIC, TCP, RequestLog
from .training import TrainingSet, prepare
from .validation import check_held_out, fold_conditions, predict_held_out

# What `train` mostly chooses.
SETTINGS = Settings(max_depth=3, min_child_weight=300, joint=False)
# A rate of 0 has no logarithm.
MIN_RATE_MBPS = 0.01


def judge_bound(log: RequestLog, repeats: int, report: Callable[[str], None]) -> dict:
    """Mean request times in ms, conditions held out, and their excess over the best choice; median, lowest and highest of the folds' seeds.

    Over TCP nothing is known of QUIC but what other networks showed: `features` has the trees choose there, `network` a Gaussian process
    that knows rate, loss and delay of the condition without an error. After a switch to QUIC the rollback checker chooses in both.
    `overTcp` and `overQuic` are the shares of the excess that fall on requests over each. Raises InputError if the log has too few conditions.
    """
    data = prepare(log)
    seeds: dict[str, list[dict[str, float]]] = {"features": [], "network": []}
    for seed in range(1, repeats + 1):
        checked = check_held_out(data.comparisons, data.rows, seed)
        after_switch = np.where(np.isnan(checked), True, checked > 0)
        predicted = {
            "features": predict_held_out(lambda: Learner(SETTINGS), data.features, data.rows, data.costs, seed),
            "network": predict_by_network(data, seed),
        }
        for name, ratios in predicted.items():
            use_quic = np.where(data.protocols == TCP, ratios > 0, after_switch)
            seeds[name].append(_excess(data, use_quic))
            report(f"seed {seed}, {name}: {seeds[name][-1]['overOracle']:.2%} above the best choice")
    return {
        name: {
            figure: {"median": float(np.median(values)), "lowest": min(values), "highest": max(values)}
            for figure in each[0]
            if (values := [own[figure] for own in each])
        }
        for name, each in seeds.items()
    }


def predict_by_network(data: TrainingSet, seed: int) -> np.ndarray:
    """The log ratio of request times, TCP to QUIC, at each row, by a Gaussian process over networks that has not seen the row's condition."""
    conditions, first, row_of = np.unique(data.rows["condition"], return_index=True, return_inverse=True)
    figures = _figures(data.rows.iloc[first])
    ratios = np.log(data.costs[first, TCP] / data.costs[first, QUIC])
    predicted = np.empty(len(conditions))
    for train, test in fold_conditions(data.rows.iloc[first], seed):
        kernel = ConstantKernel() * Matern(np.ones(figures.shape[1]), nu=1.5) + WhiteKernel()
        process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=1)
        fitted = make_pipeline(StandardScaler(), process)
        with warnings.catch_warnings():
            # Where a figure says nothing, or ratios have no noise, the best scale is at its bound.
            warnings.simplefilter("ignore", ConvergenceWarning)
            predicted[test] = fitted.fit(figures[train], ratios[train]).predict(figures[test])
    return predicted[row_of]


def _figures(rows: pd.DataFrame) -> np.ndarray:
    """Returns a row of figures for each network: rates and delays as logarithms, as they span orders of magnitude."""
    return np.column_stack([np.log(np.maximum(rows["BW"], MIN_RATE_MBPS)), rows["Loss"], np.log1p(rows["Delay"])])


def _excess(data: TrainingSet, use_quic: np.ndarray) -> dict[str, float]:
    means = mean_costs(data.costs, use_quic)
    excess = np.where(use_quic, data.costs[:, QUIC], data.costs[:, TCP]) - data.costs.min(axis=1)
    over = {
        name: float(excess[data.protocols == protocol].sum() / data.costs.min(axis=1).sum())
        for name, protocol in (("overTcp", TCP), ("overQuic", QUIC))
    }
    return {**means, "overOracle": means["chosenMs"] / means["oracleMs"] - 1, **over}
