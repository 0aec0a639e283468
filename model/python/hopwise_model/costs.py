"""What a choice of protocol costs: the mean request time of the network condition under that protocol."""

import numpy as np
import pandas as pd

from .errors import InputError
from .request_log import TCP, QUIC


def compute_costs(rows: pd.DataFrame) -> np.ndarray:
    """Mean request time in ms that each row's condition has under TCP and QUIC: shape (rows, 2), columns `TCP`, `QUIC`.

    NaN where the condition has no request under that protocol.
    """
    return tabulate_costs(rows).loc[rows["condition"]].to_numpy()


def tabulate_costs(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the mean request times in ms by condition, columns `TCP`, `QUIC`."""
    means = rows.pivot_table(index="condition", columns="protocol", values="duration_ms", aggfunc="mean")
    return means.reindex(columns=[TCP, QUIC])


def keep_comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the conditions that were measured under both protocols.

    Raises InputError if there is none.
    """
    comparable = rows[~np.isnan(compute_costs(rows)).any(axis=1)].reset_index(drop=True)
    if comparable.empty:
        raise InputError("expected a network condition with requests under both protocols, found none")
    return comparable


def mean_costs(costs: np.ndarray, use_quic: np.ndarray) -> dict[str, float]:
    """Mean request times in ms over all rows: of the choices, of both fixed rules, and of the best choice."""
    return {
        "chosenMs": float(np.where(use_quic, costs[:, QUIC], costs[:, TCP]).mean()),
        "alwaysTcpMs": float(costs[:, TCP].mean()),
        "alwaysQuicMs": float(costs[:, QUIC].mean()),
        "oracleMs": float(costs.min(axis=1).mean()),
    }
