import numpy as np
import pandas as pd

from hopwise_model.nested import split_halves
from hopwise_model.request_log import MEASURED, QUIC, TCP


def test_halves_share_no_request():
    # Requests over TCP take 1, 2, 4 and 8 ms, so that the mean of two identifies them; those over QUIC the tenfold.
    durations = [1.0, 2.0, 4.0, 8.0]
    frames = [
        pd.DataFrame({"condition": 0, "protocol": protocol, "duration_ms": np.multiply(durations, factor), "time_s": range(4)})
        for protocol, factor in ((TCP, 1), (QUIC, 10))
    ]
    rows = pd.concat(frames, ignore_index=True).assign(**dict.fromkeys(MEASURED, 1.0))
    seen, known_ms = split_halves(rows, seed=1)
    assert len(seen.rows) == 4
    for protocol, factor in ((TCP, 1), (QUIC, 10)):
        own = seen.rows.loc[seen.rows["protocol"] == protocol, "duration_ms"]
        assert len(own) == 2
        # The costs are the mean of the two that are not seen.
        assert np.all(seen.costs[:, protocol] == (15 * factor - own.sum()) / 2)
    assert known_ms == seen.costs[0, TCP]
