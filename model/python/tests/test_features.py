import numpy as np
import pandas as pd
import pytest

from hopwise_model.features import FEATURES, compute_features
from hopwise_model.request_log import MEASURED, QUIC, TCP


def rows_of(times, protocols, **columns):
    values = {name: [1.0] * len(times) for name in MEASURED} | columns
    return pd.DataFrame({"time_s": times, "protocol": protocols, **values})


def feature(rows, name, window_s=30):
    return compute_features(rows, window_s)[:, list(FEATURES).index(name)].tolist()


def test_a_feature_is_the_mean_over_the_window():
    rows = rows_of([0, 10, 30, 41], [TCP] * 4, Judge_Rtt_9=[10.0, 20.0, 60.0, 40.0])
    # 10 | (10 + 20) / 2 | (10 + 20 + 60) / 3 | 0 s and 10 s are older than 41 - 30 s: (60 + 40) / 2
    assert feature(rows, "mean_rtt_ms") == [10, 15, 30, 50]


def test_requests_under_the_other_protocol_do_not_count():
    rows = rows_of([0, 1, 2], [TCP, QUIC, TCP], Judge_Rtt_9=[10.0, 99.0, 30.0])
    assert feature(rows, "mean_rtt_ms") == [10, 99, 20]


def test_goodputs_have_geometric_means():
    rows = rows_of([0, 1], [TCP, TCP], Judge_Thp=[10.0, 1000.0])
    assert feature(rows, "response_goodput") == pytest.approx([10, 100])


def test_missing_values_do_not_count():
    rows = rows_of([0, 1, 2], [TCP] * 3, Judge_Retran_long=[np.nan, 0.25, np.nan])
    computed = feature(rows, "retransmission_rate")
    assert np.isnan(computed[0])
    assert computed[1:] == [0.25, 0.25]
