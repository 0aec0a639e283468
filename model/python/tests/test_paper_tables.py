import json

import numpy as np
import pandas as pd
import pytest
from generated_log import generate_rows, write_log

from hopwise_model.__main__ import main
from hopwise_model.paper_tables import predict_by_folds


class Memory:
    """Repeats a label that it has seen with the same features; True for others."""

    def fit(self, features, labels):
        self.seen = dict(zip(features[:, 0], labels))
        return self

    def predict(self, features):
        return np.array([self.seen.get(value, True) for value in features[:, 0]])


@pytest.mark.parametrize(("split", "accuracy"), [("randomRows", 1.0), ("heldOutConditions", 0.5)])
def test_only_random_rows_let_a_classifier_recognise_a_condition(split, accuracy):
    # 10 conditions of 8 rows; the feature is the condition's number, and half of the conditions are True.
    conditions = pd.Series(np.repeat(np.arange(10), 8))
    labels = conditions.to_numpy() % 2 == 0
    features = conditions.to_numpy(dtype=float)[:, None]
    predicted = predict_by_folds(Memory, features, labels, conditions, split, folds=5, seed=1)
    assert (predicted == labels).mean() == accuracy


def test_the_tables_of_a_log(tmp_path, capsys):
    log = write_log(tmp_path / "log.csv", generate_rows())
    assert main(["tables", "--log", str(log), "--folds", "3", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    # 30 conditions of 20 requests under each protocol; those from 20·8/29 = 5.5% loss, 22 of 30, are faster over QUIC.
    assert (tables["requests"], tables["conditions"]) == (1200, 30)
    assert tables["majorityAccuracy"]["tcp"] == pytest.approx(22 / 30)
    assert tables["candidates"]["randomRows"]["xgboost"]["tcp"] > 0.97
    # TCP and QUIC are 10 minutes apart: no request can be compared with one before a switch.
    assert tables["rollback"]["quic"] == {"requests": 0, "without": None, "with": None}
    assert sum(tables["importances"]["quic"].values()) == pytest.approx(1, abs=1e-5)


def test_the_checker_is_judged_after_switches(tmp_path, capsys):
    rows = generate_rows()
    # Over TCP the first ten minutes of each 20, over QUIC the second: now 20 s later.
    times = pd.to_datetime(rows["Timestamp"])
    rows["Timestamp"] = (times - pd.to_timedelta(np.where(rows["Protocol"] == 1, 580, 0), unit="s")).astype(str)
    log = write_log(tmp_path / "log.csv", rows)
    assert main(["tables", "--log", str(log), "--folds", "3", "--json"]) == 0
    quic = json.loads(capsys.readouterr().out)["rollback"]["quic"]
    # 30 conditions of 20 requests, without the first of each, which has nothing to compare.
    assert quic["requests"] == 30 * 19
    # TCP takes 200 ms for 300 ms of QUIC, or 900 ms for 400 ms, each ±10%: one request shows it.
    assert quic["with"] == 1
