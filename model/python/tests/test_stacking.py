import json
import re
from pathlib import Path

import numpy as np
import pytest

from hopwise_model.__main__ import main
from hopwise_model.stacking import SURVEYED, judge_stacking, learn_choosers, weigh
from hopwise_model.stacking_rows import PROTOCOLS, read_rows


def rows_of(pages, networks, decide, seed=1):
    """Rows in which HTTP/3 takes longer than HTTP/2 on short round trips only; `decide(rtt, costs)` is the decision."""
    random = np.random.default_rng(seed)
    for page in pages:
        for network in networks:
            rtt = 10 * 1.5 ** (network % 12)
            ratio = 0.3 - 0.12 * np.log(rtt / 10) + random.normal(0, 0.02)
            costs = {"h1": 1000 * np.exp(0.4), "h2": 1000.0, "h3": 1000 * np.exp(ratio)}
            yield {
                "page": f"page {page}",
                "network": f"network {network}",
                "knowledge": "udp",
                "recorded": PROTOCOLS[network % 3],
                "udp": "policed" if network % 12 == 0 else "open",
                "features": {"rttMs": rtt, "loss": None},
                "decision": decide(rtt, costs),
                "rule": "h3",
                "costMs": costs,
            }


def biased(rtt, costs):
    """Takes HTTP/3 for slower than it is: wrong wherever round trips are long."""
    return "h2"


def right(rtt, costs):
    return min(costs, key=costs.get)


def write(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def files(tmp_path, decide, **others):
    """Options of `stack`: each part has pages and networks of its own."""
    parts = {
        "train": rows_of(range(10), range(24), decide),
        "validation": rows_of(range(10, 16), range(24, 48), decide, seed=2),
        "measured": rows_of(range(16, 20), range(48, 60), decide, seed=3),
        **others,
    }
    return [text for name, rows in parts.items() for text in (f"--{name}", write(tmp_path / f"{name}.jsonl", rows))]


def run_stack(capsys, arguments):
    assert main(["stack", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_trees_that_correct_the_decisions_error_are_kept(tmp_path, capsys):
    judged = run_stack(capsys, files(tmp_path, biased))["udp"]
    assert judged["rows"] == 240 and judged["drawn"]["validation"]["pages"] == 6
    choosers = judged["drawn"]["validation"]["choosers"]
    assert choosers["decision"]["regret"] > 0.02 and choosers["decision"]["overDecision"] == 0
    for name in ("trees", "stacked"):
        assert choosers[name]["regret"] < choosers["decision"]["regret"] / 2
        gain = choosers[name]["regret"] - choosers["decision"]["regret"]
        assert choosers[name]["overDecision"] == pytest.approx(gain)
        # Each protocol was recorded in a third of the rows.
        assert np.mean(list(choosers[name]["byRecorded"].values())) == pytest.approx(gain)
    assert judged["kept"] in ("logistic", "trees", "stacked")


def test_the_decision_is_kept_where_nothing_is_left_to_correct(tmp_path, capsys):
    judged = run_stack(capsys, files(tmp_path, right))["udp"]
    assert judged["drawn"]["validation"]["choosers"]["decision"]["regret"] == 0
    assert judged["kept"] == "decision"


def test_what_gains_by_the_gauntlets_shares_alone_is_not_kept(tmp_path, capsys):
    """HTTP/3 is slow where UDP is hindered, which nothing shows: whether it is worth its risk depends on how often that is."""

    def gambled(pages, networks, seed=1):
        for row in rows_of(pages, networks, right, seed):
            is_hindered = int(row["network"].split()[1]) % 2 == 0
            costs = {"h1": 1500.0, "h2": 1000.0, "h3": 1500.0 if is_hindered else 900.0}
            yield row | {"udp": "policed" if is_hindered else "open", "features": {"rttMs": 1}, "costMs": costs, "decision": "h3"}

    parts = {"validation": gambled(range(10, 16), range(24, 48), 2), "measured": gambled(range(16, 20), range(48, 60), 3)}
    judged = run_stack(capsys, files(tmp_path, right, train=gambled(range(10), range(24)), **parts))["udp"]
    drawn, surveyed = (judged[weighting]["validation"]["choosers"]["trees"] for weighting in ("drawn", "surveyed"))
    assert drawn["overDecision"] < -5 * drawn["error"]
    assert surveyed["overDecision"] == 0
    assert judged["kept"] == "decision"


def test_what_loses_on_measured_rows_is_not_kept(tmp_path, capsys):
    """The measured pages load faster over HTTP/2 wherever the learned ones load faster over HTTP/3."""

    def inverted():
        for row in rows_of(range(16, 20), range(48, 60), biased, seed=3):
            row["costMs"]["h3"] = 1e6 / row["costMs"]["h3"]
            yield row | {"decision": right(0, row["costMs"])}

    judged = run_stack(capsys, files(tmp_path, biased, measured=inverted()))["udp"]
    assert judged["drawn"]["measured"]["choosers"]["trees"]["overDecision"] > 0
    assert judged["kept"] == "decision"


def test_a_test_part_is_judged_and_decides_nothing(tmp_path, capsys):
    arguments = files(tmp_path, biased)
    alone = run_stack(capsys, arguments)
    test = write(tmp_path / "test.jsonl", rows_of(range(20, 24), range(60, 72), biased, seed=4))
    beside = run_stack(capsys, [*arguments, "--test", test])
    for weighting in ("drawn", "surveyed"):
        assert beside["udp"][weighting].pop("test")["rows"] == 48
    assert beside == alone


def test_drawn_networks_count_as_often_as_users_have_such(tmp_path):
    rows = read_rows(write(tmp_path / "rows.jsonl", rows_of(range(3), range(24), right)))["udp"]
    weights = weigh(rows, surveyed=True)
    assert weights.mean() == pytest.approx(1)
    # None of them is blocked.
    assert weights[rows.udp == "policed"].sum() / len(rows) == pytest.approx(
        SURVEYED["policed"] / (1 - SURVEYED["blocked"])
    )
    assert weigh(rows, surveyed=False).tolist() == [1] * len(rows)


def test_the_surveyed_shares_are_those_that_hopwise_assumes():
    source = (Path(__file__).parents[3] / "pageload-emulator/src/network/udp-prior.ts").read_text()
    blocked, policed = map(float, re.search(r"blocked: ([\d.]+), policed: ([\d.]+)", source).groups())
    assert SURVEYED == {"blocked": blocked, "policed": pytest.approx((1 - blocked) * policed)}


def test_errors_grow_with_the_differences_between_pages(tmp_path):
    train = read_rows(write(tmp_path / "train.jsonl", rows_of(range(6), range(12), biased)))["udp"]

    def error(pages):
        rows = list(rows_of(range(6, 12), range(12, 24), right, seed=2))
        for row in rows:
            if row["page"] in pages:
                row["decision"] = "h1"
        judged = read_rows(write(tmp_path / "rows.jsonl", rows))["udp"]
        return judge_stacking(train, {"validation": judged, "measured": judged})["drawn"]["validation"]["choosers"]["rule"]["error"]

    assert error(["page 6", "page 7", "page 8"]) > 3 * error([])


def test_protocols_that_were_not_measured_cost_everything(tmp_path):
    rows = list(rows_of(range(2), range(12), right))
    for row in rows:
        del row["costMs"]["h1"]
    read = read_rows(write(tmp_path / "rows.jsonl", rows))["udp"]
    assert np.isinf(read.regrets[:, 0]).all() and np.isfinite(read.regrets[:, 1:]).all()


def test_choosers_are_the_same_each_time_and_readable(tmp_path, capsys):
    arguments = files(tmp_path, biased)
    printed = []
    for _ in range(2):
        assert main(["stack", *arguments]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "\n  kept: " in printed[0]


def test_the_best_constant_is_that_of_the_recorded_protocol(tmp_path):
    rows = list(rows_of(range(4), range(12), right))
    for row in rows:
        fastest = {"h1": "h3", "h2": "h1", "h3": "h2"}[row["recorded"]]
        row["costMs"] = {protocol: 500.0 if protocol == fastest else 1000.0 for protocol in PROTOCOLS}
    read = read_rows(write(tmp_path / "rows.jsonl", rows))["udp"]
    chosen = learn_choosers(read, np.ones(len(read)))["constant"](read)
    assert (read.regrets[np.arange(len(read)), chosen] == 0).all()


ROW = next(rows_of(range(1), range(1), right))


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "train.jsonl: expected lines of npm run bench -- reading --rows, found none"),
        (["{"], "train.jsonl, line 1: expected JSON"),
        (["[]"], "line 1: expected an object with page, network"),
        ([json.dumps({**ROW, "knowledge": "all"})], "line 1: knowledge: expected one of udp, estimated"),
        ([json.dumps({**ROW, "recorded": "h4"})], "line 1: recorded: expected one of h1, h2, h3, natural"),
        ([json.dumps({**ROW, "features": {"rttMs": "1"}})], "line 1: features: expected numbers by name"),
        ([json.dumps({**ROW, "features": {}})], "line 1: features: expected at least one"),
        ([json.dumps({**ROW, "costMs": {"h2": -1}})], "line 1: costMs: expected positive times by protocol"),
        ([json.dumps({**ROW, "costMs": {"h2": None}})], "line 1: costMs: expected positive times by protocol"),
        ([json.dumps({**ROW, "costMs": {"h4": 1}})], "line 1: costMs: expected positive times by protocol"),
        ([json.dumps({**ROW, "costMs": {"h2": float("nan")}})], "line 1: costMs"),
        ([json.dumps({**ROW, "rule": "natural"})], "line 1: rule: expected a protocol that costMs has"),
        ([json.dumps(ROW), json.dumps({**ROW, "features": {"loss": 1}})], "line 2: expected the features of line 1"),
        ([json.dumps({**ROW, "features": {"loss": 1}})], "validation.jsonl: expected the features of"),
        ([json.dumps({**ROW, "knowledge": "estimated"})], "expected rows with the same knowledge in each"),
        ([json.dumps({**ROW, "page": "page 10"})], "validation: expected other pages and networks than those learned from"),
        (
            [json.dumps({**ROW, "costMs": {"h2": 1, "h3": 1}})],
            "expected rows to learn from that have every protocol in costMs",
        ),
    ],
)
def test_unusable_rows_end_in_one_line(tmp_path, capsys, lines, problem):
    arguments = files(tmp_path, right)
    (tmp_path / "train.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert main(["stack", *arguments]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert problem in error
