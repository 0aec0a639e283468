"""Replays measured sessions request by request: what a client would have taken that chooses the transport as it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .features import FEATURES, GEOMETRIC, MIN_GEOMETRIC
from .request_log import QUIC, TCP
from .rollback import Comparisons, RollbackChecker
from .session_table import Sessions

# Requests between decisions, as many as the extension has before its first.
PERIOD = 10

# Log ratios, TCP to QUIC, at rows of features (NaN where missing) with the protocols that they are of.
Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ReplayedPair:
    """One condition with one stack: the requests that both sessions have, in their order, columns `TCP`, `QUIC`."""

    duration_ms: np.ndarray
    # Shape (requests, 2, features), and what they went over: NaN where the helper measured nothing.
    figures: np.ndarray
    protocol: np.ndarray
    best: np.ndarray
    is_hindered_at_first: bool
    changes_at: int | None
    condition: str
    stack: str
    change: str


@dataclass(frozen=True)
class ReplayResult:
    """By pair: mean request times in ms, and numbers of switches and of those taken back."""

    mean_ms: np.ndarray
    switches: np.ndarray
    rollbacks: np.ndarray


def pair_sessions(sessions: Sessions) -> list[ReplayedPair]:
    """The pairs of a table, in order of condition and stack."""
    cells, requests = sessions.cells, sessions.requests
    pairs = []
    for number, own in requests.groupby(requests["session"] // 2, sort=True):
        over = [own[own["transport"] == transport].set_index("index") for transport in (TCP, QUIC)]
        common = over[TCP].index.intersection(over[QUIC].index).sort_values()
        over = [each.loc[common] for each in over]
        cell = over[TCP]["cell"].to_numpy()
        costs = sessions.costs[cell]
        first = cells.iloc[cell[0]]
        pairs.append(
            ReplayedPair(
                np.stack([each["duration_ms"].to_numpy() for each in over], axis=1),
                np.stack([each[list(FEATURES.values())].to_numpy() for each in over], axis=1),
                np.stack([each["protocol"].to_numpy() for each in over], axis=1),
                np.where(costs[:, QUIC] < costs[:, TCP], QUIC, TCP),
                bool(first["is_hindered"]),
                None if len(np.unique(cell)) == 1 else int(np.argmax(cell != cell[0])),
                first["condition"],
                first["stack"],
                first["change"],
            )
        )
    return pairs


def replay_fixed(pairs: list[ReplayedPair]) -> dict[str, np.ndarray]:
    """Mean request times in ms by pair of both fixed rules, and of the best choice before the change and after it."""
    return {
        "always TCP": np.array([pair.duration_ms[:, TCP].mean() for pair in pairs]),
        "always QUIC": np.array([pair.duration_ms[:, QUIC].mean() for pair in pairs]),
        "best choice by phase": np.array([pair.duration_ms[np.arange(len(pair.best)), pair.best].mean() for pair in pairs]),
    }


def replay_choices(
    pairs: list[ReplayedPair], predict: Predict | None, checker: RollbackChecker | None, period: int = PERIOD
) -> ReplayResult:
    """Replays a client that begins over TCP and decides every `period` requests, by trees or, without, by the rule.

    The rule is QUIC unless what is known of the network when the session begins speaks against it. Trees prefer QUIC only
    where the rule allows it. A checker compares the requests since a switch with as many before it, at the next decision: a
    switch that it takes back is not tried again. Where the helper fell back to HTTP/2, its requests are as they were.
    """
    count = len(pairs)
    current = np.full(count, TCP)
    since_switch = np.zeros(count, dtype=int)
    is_checked, is_settled = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    switches, rollbacks = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    over = [np.full(len(pair.duration_ms), TCP) for pair in pairs]
    may_use_quic = np.array([not pair.is_hindered_at_first for pair in pairs])
    for begin in range(0, max(len(each) for each in over), period):
        open_pairs = np.flatnonzero([begin < len(each) for each in over])
        if begin > 0:
            wanted = current.copy()
            if predict is None:
                wanted[open_pairs] = np.where(may_use_quic[open_pairs], QUIC, TCP)
            else:
                wanted[open_pairs] = _choose_by_trees(pairs, over, open_pairs, current, begin, predict, may_use_quic)
            for number in open_pairs:
                if checker is not None and is_checked[number]:
                    is_checked[number] = False
                    if not _is_confirmed(pairs[number], over[number], begin, since_switch[number], current[number], checker):
                        current[number] = QUIC if current[number] == TCP else TCP
                        rollbacks[number] += 1
                        is_settled[number] = True
                        continue
                if wanted[number] != current[number] and not is_settled[number]:
                    current[number] = wanted[number]
                    switches[number] += 1
                    since_switch[number] = begin
                    is_checked[number] = True
        for number in open_pairs:
            over[number][begin : begin + period] = current[number]
    means = [pair.duration_ms[np.arange(len(each)), each].mean() for pair, each in zip(pairs, over)]
    return ReplayResult(np.array(means), switches, rollbacks)


def _choose_by_trees(
    pairs: list[ReplayedPair],
    over: list[np.ndarray],
    open_pairs: np.ndarray,
    current: np.ndarray,
    end: int,
    predict: Predict,
    may_use_quic: np.ndarray,
) -> np.ndarray:
    """What the trees prefer at the requests before `end`; the present transport where they show nothing."""
    rows = np.stack([_features_of(pairs[number], over[number], current[number], end) for number in open_pairs])
    chosen = current[open_pairs].copy()
    known = ~np.isnan(rows).all(axis=1)
    if known.any():
        predicted = predict(rows[known], chosen[known])
        chosen[known] = np.where((predicted > 0) & may_use_quic[open_pairs][known], QUIC, TCP)
    return chosen


def _features_of(pair: ReplayedPair, over: np.ndarray, current: int, end: int) -> np.ndarray:
    """The features of the requests that were made over the present transport."""
    made = np.arange(end)
    own = made[(over[:end] == current) & (pair.protocol[made, over[:end]] == current)]
    figures = pair.figures[own, current]
    row = np.full(len(FEATURES), np.nan, dtype=np.float32)
    for column, name in enumerate(FEATURES):
        values = figures[:, column]
        values = values[~np.isnan(values)]
        if len(values) == 0:
            continue
        is_geometric = name in GEOMETRIC
        row[column] = np.exp(np.log(np.maximum(values, MIN_GEOMETRIC)).mean()) if is_geometric else values.mean()
    return row


def _is_confirmed(
    pair: ReplayedPair, over: np.ndarray, end: int, switched_at: int, current: int, checker: RollbackChecker
) -> bool:
    """Whether the requests since a switch are, as far as they show, no slower than as many before it."""
    durations = pair.duration_ms[np.arange(end), over[:end]]
    after = durations[switched_at:end]
    before = durations[max(0, switched_at - len(after)) : switched_at]
    sign = 1 if current == QUIC else -1
    log_ratio = np.array([sign * np.log(before.mean() / after.mean())])
    counts = np.array([[len(before), len(after)] if current == QUIC else [len(after), len(before)]])
    return bool(sign * checker.estimate(Comparisons(log_ratio, counts))[0] >= 0)
