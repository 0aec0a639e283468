import numpy as np
import pandas as pd
import pytest

from hopwise_model.request_log import QUIC, TCP
from hopwise_model.rollback import Comparisons, RollbackChecker, compare_switches, fit_checker


def rows_of(*requests):
    """Rows of (time in s, protocol, duration in ms)."""
    return pd.DataFrame(requests, columns=["time_s", "protocol", "duration_ms"])


def test_requests_since_a_switch_are_compared_with_those_before_it():
    compared = compare_switches(
        rows_of((0, TCP, 100.0), (1, TCP, 300.0), (2, QUIC, 400.0), (3, QUIC, 1200.0), (4, QUIC, 9.0), (5, TCP, 8.0), (6, TCP, 8.0))
    )
    # TCP took (100 + 300) / 2 = 200. At 3 s QUIC has taken 400; at 4 s (400 + 1200) / 2 = 800; at the switch nothing yet.
    # At 6 s TCP has taken 8 since 5 s, and QUIC (400 + 1200 + 9) / 3 before.
    expected = [np.nan] * 3 + [np.log(200 / 400), np.log(200 / 800), np.nan, np.log(8 / (1609 / 3))]
    np.testing.assert_allclose(compared.log_ratio, expected)
    assert compared.counts.tolist() == [[0, 0], [0, 0], [0, 0], [2, 1], [2, 2], [0, 0], [1, 3]]


def test_what_came_before_a_long_pause_does_not_count():
    paused_at_switch = rows_of((0, TCP, 100.0), (151, QUIC, 100.0), (152, QUIC, 100.0))
    paused_since = rows_of((0, TCP, 100.0), (1, QUIC, 100.0), (2, QUIC, 100.0), (153, QUIC, 100.0), (154, QUIC, 100.0))
    paused_before = rows_of((0, TCP, 900.0), (151, TCP, 100.0), (152, QUIC, 100.0), (153, QUIC, 100.0))
    assert np.isnan(compare_switches(paused_at_switch).log_ratio).all()
    assert np.isnan(compare_switches(paused_since).log_ratio).tolist() == [True, True, False, True, True]
    assert compare_switches(paused_before).log_ratio[3] == 0  # 100 and 100: the 900 is forgotten


def test_few_requests_leave_the_ratio_where_networks_have_it():
    checker = RollbackChecker(mean=0.4, variance=0.2, spreads=(1.0, 0.5))
    comparisons = Comparisons(np.array([-1.0, -1.0, np.nan]), np.array([[4, 2], [100, 100], [0, 0]]))
    # Noise 1 / 4 + 0.5 / 2 = 0.5, weight 0.2 / (0.2 + 0.5) = 2 / 7; noise 0.015, weight 0.2 / 0.215.
    expected = [0.4 - 1.4 * 2 / 7, 0.4 - 1.4 * 0.2 / 0.215, np.nan]
    np.testing.assert_allclose(checker.estimate(comparisons), expected, atol=1e-12)


def test_a_checker_learns_how_networks_and_requests_vary():
    random = np.random.default_rng(1)
    ratios = random.normal(0.3, 0.5, 400)
    frames = []
    for condition, ratio in enumerate(ratios):
        for protocol, mean_ms in ((TCP, 100 * np.exp(ratio)), (QUIC, 100.0)):
            durations = random.exponential(mean_ms, 50) if protocol == TCP else random.gamma(2, mean_ms / 2, 50)
            frames.append(pd.DataFrame({"condition": condition, "protocol": protocol, "duration_ms": durations}))
    checker = fit_checker(pd.concat(frames))
    # Exponential times have a relative variance of 1, gamma times of shape 2 have 1 / 2.
    assert checker.spreads == pytest.approx((1, 0.5), rel=0.1)
    assert checker.mean == pytest.approx(0.3, abs=0.06)
    assert checker.variance == pytest.approx(0.25, rel=0.2)


def test_networks_that_are_all_alike_still_leave_a_variance():
    rows = pd.DataFrame({"condition": [0, 0, 1, 1], "protocol": [TCP, QUIC] * 2, "duration_ms": [100.0] * 4})
    checker = fit_checker(rows)
    assert checker == RollbackChecker(0.0, 1e-4, (0.0, 0.0))
