import hashlib
import json

import numpy as np
import pytest
from generated_sessions import OPEN, POLICED, generate_sessions, make_session, write_table

from hopwise_model.__main__ import main
from hopwise_model.learner import Settings
from hopwise_model.rollback import RollbackChecker
from hopwise_model.session_replay import pair_sessions, replay_choices, replay_fixed
from hopwise_model.session_table import read_sessions
from hopwise_model.session_training import prepare_rows, split_folds, summarise

GRID = [Settings(3, 1, joint=True), Settings(3, 1, joint=False)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two models: of sessions where only features show which transport is faster, and of ones where the rule knows it."""
    folder = tmp_path_factory.mktemp("sessions")
    for name, is_known in (("shown", False), ("known", True)):
        train(write_table(folder / f"{name}.gz", generate_sessions(is_known=is_known)), folder / name)
    return folder


def train(table, out):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hopwise_model.session_training.GRID", GRID)
        assert main(["requests", "--table", str(table), "--out", str(out), "--json"]) == 0


def describe(folder):
    return json.loads((folder / "transport.json").read_text())


def test_trees_are_used_only_where_they_clearly_beat_the_rule(trained):
    assert describe(trained / "shown")["uses"] == {"tcp": "trees", "quic": "trees"}
    assert "**The trees beat “QUIC unless hindered” on held-out cells**" in (trained / "shown" / "CARD.md").read_text()
    # No choice is better than a rule that is always right.
    assert describe(trained / "known")["uses"] == {"tcp": "rule", "quic": "rule"}
    assert "**The trees do not clearly beat “QUIC unless hindered”" in (trained / "known" / "CARD.md").read_text()


def test_the_description_is_of_the_file(trained):
    contents = (trained / "shown" / "transport.onnx").read_bytes()
    description = describe(trained / "shown")
    assert description["sha256"] == hashlib.sha256(contents).hexdigest()
    assert (description["format"], description["features"][-1], len(description["features"])) == (1, "protocol", 8)
    assert len(contents) <= 300_000


def test_the_same_table_gives_the_same_files(trained, tmp_path):
    train(trained / "shown.gz", tmp_path)
    for file in (trained / "shown").iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_folds_hold_out_conditions_and_stacks_together(tmp_path):
    cells = read_sessions(write_table(tmp_path / "table.gz", generate_sessions(splits=("train",)))).cells
    judged_in_all = np.zeros(len(cells), dtype=int)
    for learned, judged in split_folds(cells, seed=1):
        assert not set(cells["condition"][learned]) & set(cells["condition"][judged])
        assert not set(cells["stack"][learned]) & set(cells["stack"][judged])
        assert learned.any()
        judged_in_all += judged
    assert (judged_in_all == 1).all()


def test_every_cell_counts_the_same(tmp_path):
    # 24 requests of 100 and 50 ms, and six of 300 and 700 ms.
    sessions = [make_session("a", "tcp", 100), make_session("a", "quic", 50)]
    sessions += [make_session("b", "tcp", [300] * 6, before=POLICED), make_session("b", "quic", [700] * 6, before=POLICED)]
    read = read_sessions(write_table(tmp_path / "table.gz", sessions))
    rows = prepare_rows(read)
    means = summarise(rows, read.cells, {"none": np.full(len(rows.cell), False)})
    assert means == {
        "none": 200,
        "always TCP": 200,
        "always QUIC": 375,
        "QUIC unless hindered": 175,
        "best choice": 175,
    }


def replay(tmp_path, tcp, quic, checker=None, **more):
    sessions = [make_session("a", "tcp", tcp, **more), make_session("a", "quic", quic, **more)]
    pairs = pair_sessions(read_sessions(write_table(tmp_path / "table.gz", sessions)))
    result = replay_choices(pairs, None, checker)
    return pairs, (result.mean_ms[0], result.switches[0], result.rollbacks[0])


CHECKER = RollbackChecker(0.0, 0.3, (0.5, 0.5))


def test_the_rule_uses_quic_from_the_first_decision_on(tmp_path):
    pairs, result = replay(tmp_path, 100, 50)
    # Ten of 24 requests over TCP.
    assert result == (pytest.approx((10 * 100 + 14 * 50) / 24), 1, 0)
    assert {name: means[0] for name, means in replay_fixed(pairs).items()} == {
        "always TCP": 100,
        "always QUIC": 50,
        "best choice by phase": 50,
    }


def test_the_rule_stays_with_tcp_where_udp_is_known_to_be_hindered(tmp_path):
    assert replay(tmp_path, 100, 50, before=POLICED)[1] == (100, 0, 0)


def test_a_switch_that_does_harm_is_taken_back_at_the_next_decision(tmp_path):
    # 10 requests over TCP, 10 over QUIC, then 4 over TCP, and no further try.
    assert replay(tmp_path, 100, 300, CHECKER)[1] == (pytest.approx((14 * 100 + 10 * 300) / 24), 1, 1)
    assert replay(tmp_path, 100, 50, CHECKER)[1][1:] == (1, 0)


def test_the_best_choice_is_that_of_each_phase(tmp_path):
    more = {"changes_before": 12, "before": OPEN, "after": [{"network": POLICED, "forMs": None}]}
    pairs, _ = replay(tmp_path, 100, [50] * 12 + [900] * 12, **more)
    assert replay_fixed(pairs)["best choice by phase"][0] == 75
    assert pairs[0].changes_at == 12


def test_trees_choose_by_the_requests_over_the_present_transport(tmp_path):
    sessions = [make_session("a", "tcp", 100, ttfb_ms=20), make_session("a", "quic", 50, ttfb_ms=40)]
    pairs = pair_sessions(read_sessions(write_table(tmp_path / "table.gz", sessions)))
    seen = []

    def predict(rows, protocols):
        seen.extend((float(row[4]), int(protocol)) for row, protocol in zip(rows, protocols))
        return np.ones(len(rows))

    assert replay_choices(pairs, predict, None).switches[0] == 1
    assert seen == [(pytest.approx(20), 0), (pytest.approx(40), 1)]


def test_too_few_conditions_are_refused(tmp_path, capsys):
    table = write_table(tmp_path / "table.gz", generate_sessions(conditions=5))
    assert main(["requests", "--table", str(table), "--out", str(tmp_path / "out")]) == 2
    assert "expected at least 20 conditions of the train split, found 5" in capsys.readouterr().err
