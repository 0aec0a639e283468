import json

import numpy as np
import pytest

from hopwise_model.__main__ import main
from hopwise_model.stacking import FOLDS, _folds, _interval
from hopwise_model.stacking_rows import read_rows

PROTOCOLS = ("h1", "h2", "h3")


def rows_of(pages: range, networks: range, error, seed=1):
    """Rows in which HTTP/3 gains more the longer the round trip; `error(rtt, random)` is added to its predicted log ratio."""
    random = np.random.default_rng(seed)
    for page in pages:
        for network in networks:
            rtt = 10 * 1.5 ** (network % 12)
            true = 0.3 - 0.12 * np.log(rtt / 10) + random.normal(0, 0.02)
            costs = {"h1": 1000 * np.exp(0.2), "h2": 1000.0, "h3": 1000 * np.exp(true)}
            predicted = {**costs, "h3": 1000 * np.exp(true + error(rtt, random))}
            yield {
                "page": f"page {page}",
                "network": f"network {network}",
                "knowledge": "udp",
                "features": {"rttMs": rtt, "loss": None},
                "predictedMs": predicted,
                "decision": min(PROTOCOLS, key=predicted.get),
                "rule": "h3",
                "costMs": costs,
            }


def table(tmp_path, rows):
    return read_rows(write(tmp_path / "table.jsonl", rows))["udp"]


def write(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def biased(rtt, random):
    """An emulator that takes HTTP/3 for too slow on long round trips."""
    return 0.4 if rtt > 60 else 0.0


def run_stack(capsys, *arguments):
    assert main(["stack", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["udp"]


def test_trees_that_correct_the_emulators_error_are_kept(tmp_path, capsys):
    rows = write(tmp_path / "rows.jsonl", rows_of(range(6), range(12), biased))
    judged = run_stack(capsys, "--rows", rows)
    regret = {name: each["mean"] for name, each in judged["regret"].items()}
    assert judged["rows"] == 72 and judged["pages"] == 6 and judged["networks"] == 12
    assert regret["stacked"] < regret["decision"] / 2
    assert regret["stacked"] < regret["rule"] / 2
    assert judged["kept"] in ("trees", "stacked")


def test_the_emulator_is_kept_where_trees_add_nothing(tmp_path, capsys):
    rows = write(tmp_path / "rows.jsonl", rows_of(range(6), range(12), lambda rtt, random: 0.0))
    judged = run_stack(capsys, "--rows", rows)
    assert judged["regret"]["decision"]["mean"] == 0
    assert judged["kept"] == "decision"


def test_rows_of_a_test_are_judged_by_trees_that_saw_none_of_its_pages_and_networks(tmp_path, capsys):
    rows = write(tmp_path / "rows.jsonl", rows_of(range(6), range(12), biased))
    test = write(tmp_path / "test.jsonl", rows_of(range(6, 9), range(12, 24), biased, seed=2))
    judged = run_stack(capsys, "--rows", rows, "--test", test)
    assert judged["rows"] == 36
    assert judged["regret"]["stacked"]["mean"] < judged["regret"]["decision"]["mean"] / 2
    assert main(["stack", "--rows", rows, "--test", rows]) == 2
    assert "rows of other pages and networks" in capsys.readouterr().err


def test_results_are_the_same_each_time_and_readable(tmp_path, capsys):
    rows = write(tmp_path / "rows.jsonl", rows_of(range(3), range(6), biased))
    printed = []
    for _ in range(2):
        assert main(["stack", "--rows", rows]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "    rule: 0." in printed[0] and "  kept: " in printed[0]


ROW = next(rows_of(range(1), range(1), biased))


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "rows.jsonl: expected lines of npm run bench -- accuracy rows, found none"),
        (["{"], "rows.jsonl, line 1: expected JSON"),
        (["[]"], "line 1: expected an object with page, network"),
        ([json.dumps({**ROW, "knowledge": "all"})], "line 1: knowledge: expected one of given, udp, estimated"),
        ([json.dumps({**ROW, "features": {"rttMs": "1"}})], "line 1: features: expected numbers by name"),
        ([json.dumps({**ROW, "features": {}})], "line 1: features: expected at least one"),
        ([json.dumps({**ROW, "predictedMs": {}})], "line 1: predictedMs: expected positive times by protocol"),
        ([json.dumps({**ROW, "costMs": {"h2": -1}})], "line 1: costMs: expected positive times by protocol"),
        ([json.dumps({**ROW, "costMs": {"h2": None}})], "line 1: costMs: expected positive times by protocol"),
        ([json.dumps({**ROW, "predictedMs": {"h4": 1}})], "line 1: predictedMs: expected positive times by protocol"),
        ([json.dumps({**ROW, "rule": "natural"})], "line 1: rule: expected a protocol that costMs has"),
        ([json.dumps(ROW), json.dumps({**ROW, "features": {"loss": 1}})], "line 2: expected the features of line 1"),
        ([json.dumps(ROW)], "expected at least 3 networks, found 1"),
        ([json.dumps({**ROW, "costMs": {"h2": float("nan")}})], "line 1: costMs"),
    ],
)
def test_unusable_rows_end_in_one_line(tmp_path, capsys, lines, problem):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    assert main(["stack", "--rows", str(path)]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert problem in error


def test_protocols_that_were_not_measured_are_not_chosen(tmp_path, capsys):
    rows = []
    for row in rows_of(range(6), range(12), biased):
        if row["network"] == "network 11":
            row["costMs"].pop("h3")
            row["predictedMs"].pop("h3")
            row["decision"] = row["rule"] = "h2"
        rows.append(row)
    judged = run_stack(capsys, "--rows", write(tmp_path / "rows.jsonl", rows))
    assert np.isfinite([each["mean"] for each in judged["regret"].values()]).all()


def test_folds_share_neither_page_nor_network_and_judge_each_row_once(tmp_path):
    rows = table(tmp_path, rows_of(range(4), range(5), biased))
    judged = np.zeros(len(rows), dtype=int)
    for train, test in _folds(rows, seed=1):
        assert not set(rows.pages[train]) & set(rows.pages[test])
        assert not set(rows.networks[train]) & set(rows.networks[test])
        judged += test
    assert judged.tolist() == [1] * 20
    assert len(list(_folds(rows, seed=1))) == FOLDS**2


@pytest.mark.parametrize("by", ["page", "network"])
def test_intervals_are_as_wide_as_pages_and_networks_differ(tmp_path, by):
    # Two of each, one of which has a regret of 1: both drawn twice, or one each, in a quarter, a quarter and a half of the bootstraps.
    rows = table(tmp_path, rows_of(range(2), range(2), biased))
    names = rows.pages if by == "page" else rows.networks
    regret = (names == names[-1]).astype(float)
    assert _interval(regret, rows, seed=1) == {"mean": 0.5, "low": 0, "high": 1}
    assert _interval(np.full(4, 0.25), rows, seed=1) == {"mean": 0.25, "low": 0.25, "high": 0.25}


def test_pages_that_http2_cannot_carry_are_learned_from(tmp_path, capsys):
    """Where HTTP/2 is predicted not to work, another protocol has to be chosen."""
    rows = []
    for row in rows_of(range(6), range(12), biased):
        if row["page"] == "page 5":
            del row["predictedMs"]["h2"]
            row["costMs"]["h2"] += 5_000
        row["decision"] = min(row["predictedMs"], key=row["predictedMs"].get)
        rows.append(row)
    judged = run_stack(capsys, "--rows", write(tmp_path / "rows.jsonl", rows))
    regret = {name: each["mean"] for name, each in judged["regret"].items()}
    assert regret["stacked"] < regret["trees"]


def test_rows_without_http2_cannot_be_learned_from(tmp_path, capsys):
    rows = list(rows_of(range(6), range(12), biased))
    for row in rows:
        del row["costMs"]["h2"]
        row["decision"] = "h3"
    assert main(["stack", "--rows", write(tmp_path / "rows.jsonl", rows)]) == 2
    assert "that have HTTP/2 and another protocol in costMs, found none" in capsys.readouterr().err
