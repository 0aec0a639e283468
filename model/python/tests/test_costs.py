import numpy as np
import pandas as pd
import pytest

from hopwise_model.costs import compute_costs, keep_comparable, mean_costs
from hopwise_model.errors import InputError

ROWS = pd.DataFrame(
    {
        "condition": [1, 1, 1, 2, 2, 3],
        "protocol": [0, 0, 1, 0, 1, 0],
        "duration_ms": [100.0, 300.0, 500.0, 900.0, 400.0, 50.0],
    }
)


def test_a_choice_costs_the_mean_time_of_its_condition():
    rows = keep_comparable(ROWS)  # condition 3 has no request over QUIC
    costs = compute_costs(rows)
    assert costs.tolist() == [[200, 500]] * 3 + [[900, 400]] * 2
    use_quic = np.array([False, False, True, True, True])
    assert mean_costs(costs, use_quic) == {
        "chosenMs": (200 + 200 + 500 + 400 + 400) / 5,
        "alwaysTcpMs": (3 * 200 + 2 * 900) / 5,
        "alwaysQuicMs": (3 * 500 + 2 * 400) / 5,
        "oracleMs": (3 * 200 + 2 * 400) / 5,
    }


def test_a_log_of_one_protocol_is_refused():
    with pytest.raises(InputError, match="under both protocols"):
        keep_comparable(ROWS[ROWS["protocol"] == 0])
