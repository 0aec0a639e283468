import json

import numpy as np

from generated_log import generate_rows, write_log
from hopwise_model.__main__ import main
from hopwise_model.bound import predict_by_network
from hopwise_model.request_log import read_log
from hopwise_model.training import prepare


def test_who_knows_the_network_chooses_right_where_neighbours_are_alike(tmp_path, capsys):
    log = write_log(tmp_path / "log.csv", generate_rows())
    assert main(["bound", "--log", str(log), "--repeats", "2", "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    for who in ("features", "network"):
        figures = judged[who]
        excess = figures["chosenMs"]["median"] / figures["oracleMs"]["median"] - 1
        assert abs(figures["overOracle"]["median"] - excess) < 1e-3
        parts = figures["overTcp"]["median"] + figures["overQuic"]["median"]
        assert abs(figures["overOracle"]["median"] - parts) < 0.02
    # Loss decides, and only the conditions beside 5% have neighbours that differ.
    assert judged["network"]["overTcp"]["median"] < 0.05
    assert judged["network"]["overOracle"]["median"] < judged["network"]["alwaysQuicMs"]["median"] / judged["network"]["oracleMs"]["median"] - 1


def test_a_network_unlike_its_neighbours_is_not_foreseen(tmp_path):
    rows = generate_rows()
    odd = rows["Loss"].unique()[20]
    is_odd = rows["Loss"] == odd
    # QUIC is faster with such loss, but for one condition.
    rows.loc[is_odd & (rows["Protocol"] == 1), "Duration"] *= 10
    data = prepare(read_log(write_log(tmp_path / "log.csv", rows)))
    predicted = predict_by_network(data, seed=1)
    own = data.rows["Loss"].to_numpy() == odd
    assert (predicted[own] > 0).all()
    assert (data.costs[own, 1] > data.costs[own, 0]).all()
    # One prediction for each network.
    assert len(np.unique(predicted)) == data.rows["condition"].nunique()
