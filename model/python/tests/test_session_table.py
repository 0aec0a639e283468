import gzip
import json

import numpy as np
import pytest
from generated_sessions import OPEN, POLICED, make_session, write_table

from hopwise_model.errors import InputError
from hopwise_model.exchanges import compute_figures
from hopwise_model.request_log import QUIC, TCP
from hopwise_model.session_table import read_sessions


def figures_of(time_s, protocol, **columns):
    defaults = {"ttfbMs": 50, "completionMs": 70, "bytes": 4000, "rttMs": 40, "segments": 10, "outOfOrder": 1}
    exchanges = {name: np.array(columns.get(name, [value] * len(time_s)), dtype=float) for name, value in defaults.items()}
    return compute_figures(exchanges, np.array(time_s, dtype=float), np.array(protocol, dtype=float))


def test_figures_are_those_that_the_extension_computes():
    figures = figures_of([0, 0.1], [TCP, TCP], ttfbMs=[50, 200], completionMs=[70, 300], rttMs=[40, np.nan], segments=[10, np.nan])
    assert figures["Judge_Retran_long"] == pytest.approx([0.1, np.nan], nan_ok=True)
    assert figures["Judge_Rtt_9"] == pytest.approx([40, 40])
    assert figures["Judge_Ttfb_9"] == pytest.approx([50, 125])
    assert figures["Judge_Ttfb_rate"] == pytest.approx([1, 200 / 125])
    assert figures["Judge_Thp"] == pytest.approx([4000 / 20, 4000 / 100])
    assert figures["Judge_Perf"] == pytest.approx([4000 / 70, 4000 / 300])


def test_transports_have_windows_of_their_own_and_forget_after_30_s():
    figures = figures_of([0, 1, 31], [TCP, QUIC, TCP], ttfbMs=[5, 10, 20])
    assert figures["Judge_Ttfb_9"] == pytest.approx([5, 10, 20])


def test_a_body_that_arrives_with_its_first_byte_or_none_shows_no_rate():
    figures = figures_of([0, 1], [TCP, TCP], completionMs=[50, 70], bytes=[4000, 0])
    assert np.isnan(figures["Judge_Thp"]).all()
    assert figures["Judge_Perf"] == pytest.approx([80, np.nan], nan_ok=True)


def test_cells_are_compared_by_the_requests_that_both_sessions_have(tmp_path):
    tcp = make_session("a", "tcp", [100] * 10 + [200] * 10, changes_before=10, after=[{"network": POLICED, "forMs": None}])
    # The last four were not made over QUIC.
    quic = make_session("a", "quic", [50] * 10 + [400] * 6, changes_before=10, after=[{"network": POLICED, "forMs": None}])
    sessions = read_sessions(write_table(tmp_path / "table.gz", [quic, tcp]))
    cells = sessions.cells.to_dict("records")
    assert [(cell["phase"], cell["is_hindered"], cell["tcp_ms"], cell["quic_ms"]) for cell in cells] == [
        (0, False, 100, 50),
        (1, True, 200, 400),
    ]
    assert len(sessions.requests) == 36
    later = sessions.take(np.array([False, True]))
    assert later.costs.tolist() == [[200, 400]]
    assert set(later.requests["cell"]) == {0} and len(later.requests) == 16


def test_requests_in_progress_at_the_change_count_as_after_it(tmp_path):
    more = {"changes_before": 10, "after": [{"network": POLICED, "forMs": None}]}
    tcp = make_session("a", "tcp", [100] * 20, changedMs=[1000], **more)
    # The tenth began before the change, and ended at 900 + 800 ms.
    quic = make_session("a", "quic", [100] * 9 + [800] + [100] * 10, changedMs=[1000], **more)
    sessions = read_sessions(write_table(tmp_path / "table.gz", [quic, tcp]))
    assert sessions.costs.tolist() == [[100, 100], [100, pytest.approx((800 + 10 * 100) / 11)]]


def test_failed_requests_refused_sessions_and_single_ones_are_left_out(tmp_path):
    failed = make_session("a", "quic", 50)
    failed["requests"]["status"][3] = 0
    sessions = [
        make_session("a", "tcp", 100),
        failed,
        make_session("b", "tcp", 100),
        make_session("c", "tcp", 100),
        make_session("c", "quic", 50, refusal="does not answer"),
    ]
    read = read_sessions(write_table(tmp_path / "table.gz", sessions))
    assert read.cells["condition"].tolist() == ["a"]
    assert sorted(read.requests.loc[read.requests["transport"] == QUIC, "index"]) == [0, 1, 2, *range(4, 24)]


def test_unmeasured_requests_have_a_time_and_no_figures(tmp_path):
    quic = make_session("a", "quic", 50)
    for name in ("protocol", "endedMs", "ttfbMs", "completionMs"):
        quic["requests"][name][-1] = None
    read = read_sessions(write_table(tmp_path / "table.gz", [make_session("a", "tcp", 100), quic]))
    last = read.requests[read.requests["transport"] == QUIC].iloc[-1]
    assert np.isnan(last["protocol"]) and np.isnan(last["Judge_Ttfb"])
    assert last["time_s"] - read.requests["time_s"][read.requests["transport"] == QUIC].iloc[0] == pytest.approx(23 * 0.05)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"no gzip", "expected a table"),
        (gzip.compress(json.dumps(make_session("a", "tcp", 100)).encode())[:-20], "expected a table"),
        (gzip.compress(b"not json\n"), "line 1: expected a session"),
        (gzip.compress(json.dumps({"condition": "a"}).encode()), "line 1: expected a session"),
        (gzip.compress(json.dumps(make_session("a", "tcp", 100)).encode()), "over both transports, found none"),
        (gzip.compress(json.dumps(make_session("a", "tcp", 100, before={**OPEN, "udp": None}, requests={"index": [1]})).encode()), "line 1"),
    ],
)
def test_bad_tables_are_refused_in_one_line(tmp_path, content, expected):
    (tmp_path / "table.gz").write_bytes(content)
    with pytest.raises(InputError, match=expected) as raised:
        read_sessions(tmp_path / "table.gz")
    assert len(str(raised.value).splitlines()) == 1
