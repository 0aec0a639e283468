"""From the table of measured sessions to the extension's model: `transport.onnx`, `transport.json` and `CARD.md`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from .features import FEATURES
from .learner import Learner, Settings
from .onnx_export import check_parity, to_onnx
from .request_log import QUIC, TCP
from .rollback import RollbackChecker, fit_checker
from .session_card import write_session_card
from .session_replay import PERIOD, Predict, ReplayedPair, pair_sessions, replay_choices, replay_fixed
from .session_table import Sessions, read_sessions
from .session_training import (
    NAMES,
    TrainingRows,
    calibrate,
    choose_settings,
    compare_to_rule,
    cost_of_cells,
    describe,
    choose_by_rule,
    judge_calibration,
    judge_candidates,
    predict_held_out,
    prepare_rows,
    require_conditions,
    summarise,
)

# Version of `transport.json`, which `extension/src/trees/model-description.ts` reads.
FORMAT = 1
TREES_FILE, DESCRIPTION_FILE, CARD_FILE = "transport.onnx", "transport.json", "CARD.md"
WINDOWS_S = (0, 1, 5, 30)
PERIODS = (5, 10, 20, 40)
WORST_CELLS = 5


def train_transport(path: str | Path, out: str | Path, seed: int, report: Callable[[str], None]) -> dict:
    """Trains on the split `train` of a table, judges on the others, and writes the model into a folder.

    The same table and seed give the same files. Raises InputError if the table cannot be used.
    """
    sessions = read_sessions(path)
    require_conditions(sessions.cells, str(path))
    train = take_split(sessions, "train")
    rows = prepare_rows(train)
    settings, predicted, grid = choose_settings(rows, train.cells, seed, report)
    figures = {
        "data": describe_data(sessions),
        "heldOut": grid | judge_candidates(rows, train.cells, seed, report),
        "kept": describe(settings),
        "folds": judge(rows, train.cells, predicted),
        "windowsS": judge_windows(train, settings, seed),
    }
    learner = Learner(settings).fit(rows.features, rows.protocols, rows.costs)
    calibration = calibrate(predicted, rows)
    checker = fit_sessions_checker(train)
    figures["calibration"] = {"slope": calibration[0], "offset": calibration[1]}
    for split in ("validation", "test"):
        own = take_split(sessions, split)
        if own.cells.empty:
            continue
        own_rows = prepare_rows(own)
        own_predicted = learner.predict(own_rows.features, own_rows.protocols)
        figures[split] = {
            **judge(own_rows, own.cells, own_predicted),
            "calibration": judge_calibration(own_predicted, own_rows, calibration),
            "replay": judge_replay(pair_sessions(own), learner.predict, checker),
            "cells": list_cells(own_rows, own.cells, own_predicted),
        }
    figures["uses"] = choose_uses(figures)
    figures["file"] = write_model(learner, figures["uses"], Path(out))
    (Path(out) / CARD_FILE).write_text(write_session_card(figures))
    return figures


def take_split(sessions: Sessions, split: str) -> Sessions:
    return sessions.take((sessions.cells["split"] == split).to_numpy())


def describe_data(sessions: Sessions) -> dict:
    """Numbers of conditions, cells and requests by split and stack, and how far the machine was too busy."""
    cells = sessions.cells
    requests = cells.loc[sessions.requests["cell"], ["split", "stack"]].value_counts()
    return {
        f"{split}, {stack}": {
            "conditions": int(own["condition"].nunique()),
            "cells": len(own),
            "requests": int(requests[split, stack]),
            "lateShare": float(own["late_share"].median()),
            "lateShareOfWorstTenth": float(own["late_share"].quantile(0.9)),
        }
        for (split, stack), own in cells.groupby(["split", "stack"])
    }


def choose_with_rule(cells: pd.DataFrame, rows: TrainingRows, predicted: np.ndarray) -> np.ndarray:
    """What the extension does with trees: TCP where it is known that UDP is hindered, else what they prefer."""
    return (predicted > 0) & choose_by_rule(cells, rows)


def judge(rows: TrainingRows, cells: pd.DataFrame, predicted: np.ndarray) -> dict:
    """Mean times in ms, and what the trees change against the rule over each current transport."""
    chosen = choose_with_rule(cells, rows, predicted)
    comparisons = {name: compare_to_rule(rows, cells, chosen, protocol) for protocol, name in NAMES.items()}
    return {
        "means": summarise(rows, cells, {"trees": predicted > 0, "trees unless hindered": chosen}),
        "againstRule": {
            name: {"differenceMs": each.difference_ms, "errorMs": each.error_ms, "isClear": each.is_clear}
            for name, each in comparisons.items()
        },
    }


def judge_windows(train: Sessions, settings: Settings, seed: int) -> dict[str, float]:
    """Mean times in ms of the trees by the length of the recognition window in seconds (Figure 14)."""
    times = {}
    for window_s in WINDOWS_S:
        rows = prepare_rows(train, window_s)
        predicted = predict_held_out(lambda: Learner(settings), rows, train.cells, seed)
        times[str(window_s)] = summarise(rows, train.cells, {"trees": predicted > 0})["trees"]
    return times


def fit_sessions_checker(train: Sessions) -> RollbackChecker:
    requests = train.requests
    return fit_checker(requests.assign(condition=requests["cell"], protocol=requests["transport"]))


def judge_replay(pairs: list[ReplayedPair], predict: Predict, checker: RollbackChecker) -> dict:
    """Mean times in ms of whole sessions, switches among them, and those of the trees by period (Figure 14)."""
    results = {}
    for name, trees in (("QUIC unless hindered", None), ("trees unless hindered", predict)):
        for suffix, checked in (("", None), (", with rollback", checker)):
            played = replay_choices(pairs, trees, checked)
            results[name + suffix] = {
                "meanMs": float(played.mean_ms.mean()),
                "switches": float(played.switches.mean()),
                "rollbacks": float(played.rollbacks.mean()),
            }
    fixed = {name: {"meanMs": float(means.mean())} for name, means in replay_fixed(pairs).items()}
    periods = {
        str(period): float(replay_choices(pairs, predict, checker, period).mean_ms.mean()) for period in PERIODS
    }
    return {"sessions": len(pairs), "requestsPerDecision": PERIOD, "choices": results | fixed, "periods": periods}


def list_cells(rows: TrainingRows, cells: pd.DataFrame, predicted: np.ndarray) -> dict:
    """Mean times in ms by kind of change and phase, and the cells where the trees lose most against the rule."""
    costs = {
        "always TCP": cost_of_cells(rows, np.full(len(rows.cell), False)),
        "always QUIC": cost_of_cells(rows, np.full(len(rows.cell), True)),
        "QUIC unless hindered": cost_of_cells(rows, choose_by_rule(cells, rows)),
        "trees unless hindered": cost_of_cells(rows, choose_with_rule(cells, rows, predicted)),
        "best choice": cost_of_cells(rows, rows.costs[:, QUIC] < rows.costs[:, TCP]),
    }
    table = cells.assign(**costs).dropna(subset=list(costs))
    table["kind"] = np.where(
        table["change"] == "none", "steady", table["change"] + np.where(table["phase"] == 0, ", before", ", after")
    )
    kinds = {
        kind: {"cells": len(own), **{name: float(own[name].mean()) for name in costs}} for kind, own in table.groupby("kind")
    }
    loss = table["trees unless hindered"] - table["QUIC unless hindered"]
    worst = table.loc[loss.sort_values(ascending=False, kind="stable").index[:WORST_CELLS]]
    return {
        "kinds": kinds,
        "worst": [
            {"condition": cell["condition"], "stack": cell["stack"], "kind": cell["kind"], **{name: float(cell[name]) for name in costs}}
            for _, cell in worst.iterrows()
        ],
    }


def choose_uses(figures: dict) -> dict[str, str]:
    """What decides over each current transport: trees only where they clearly beat the rule, held out and on validation."""
    judged = [figures["folds"], *([figures["validation"]] if "validation" in figures else [])]
    return {
        name: "trees" if all(each["againstRule"][name]["isClear"] for each in judged) else "rule"
        for name in NAMES.values()
    }


def write_model(learner: Learner, uses: dict[str, str], out: Path) -> dict:
    """Writes the trees and their description. Raises InputError if the file is too large or answers differently."""
    out.mkdir(parents=True, exist_ok=True)
    columns = [*FEATURES, "protocol"]
    contents = to_onnx(learner.models[TCP], columns)
    difference = check_parity(TREES_FILE, contents, learner.models[TCP], len(columns))
    description = {
        "format": FORMAT,
        "features": columns,
        "sha256": hashlib.sha256(contents).hexdigest(),
        "uses": uses,
    }
    (out / TREES_FILE).write_bytes(contents)
    (out / DESCRIPTION_FILE).write_text(json.dumps(description, indent=2) + "\n")
    return {"bytes": len(contents), "maxDifference": difference}
