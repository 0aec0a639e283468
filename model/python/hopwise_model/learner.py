"""Gradient-boosted trees that predict log(time over TCP / time over QUIC); positive means QUIC is faster."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from xgboost import XGBRegressor

from .request_log import TCP, QUIC

if TYPE_CHECKING:
    from distributed import Client

# A smaller part would cost more to send than to fit.
MIN_CHUNK_ROWS = 1_000


@dataclass(frozen=True)
class Settings:
    """One point of the grid: `joint` is one model with the protocol as a feature, else one model per protocol."""

    max_depth: int
    min_child_weight: int
    joint: bool


class Learner:
    """Fits and predicts; the same rows and settings give the same trees."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.models: dict[int, XGBRegressor] = {}

    def fit(
        self, features: np.ndarray, protocols: np.ndarray, costs: np.ndarray, client: Client | None = None
    ) -> Learner:
        """Fits to `costs`, shape (rows, 2) in ms, on the workers of a Dask cluster if there is a client of it.

        The workers draw their rows for themselves: their trees are not those of one process, but always the same for
        the same number of workers.

        The target is a logarithm, so a row's weight is the time that is at stake: an error of the logarithm costs in
        proportion to the condition's request time.
        """
        target = np.log(costs[:, TCP] / costs[:, QUIC])
        weight = costs.min(axis=1) / costs.min(axis=1).mean()
        for protocol in (TCP, QUIC):
            if self.settings.joint and protocol == QUIC:
                self.models[QUIC] = self.models[TCP]
                break
            chosen = np.full(len(target), True) if self.settings.joint else protocols == protocol
            inputs = self._inputs(features, protocols)[chosen]
            fit = self._fit_here if client is None else lambda *data: self._fit_on_cluster(client, *data)
            self.models[protocol] = fit(inputs, target[chosen], weight[chosen])
        return self

    def _fit_here(self, inputs: np.ndarray, target: np.ndarray, weight: np.ndarray) -> XGBRegressor:
        return XGBRegressor(**self._parameters()).fit(inputs, target, sample_weight=weight)

    def _fit_on_cluster(
        self, client: Client, inputs: np.ndarray, target: np.ndarray, weight: np.ndarray
    ) -> XGBRegressor:
        import dask.array
        from xgboost.dask import DaskXGBRegressor

        rows = max(MIN_CHUNK_ROWS, -(-len(inputs) // len(client.nthreads())))
        features, *columns = (
            dask.array.from_array(data, chunks=(rows, *data.shape[1:])) for data in (inputs, target, weight)
        )
        fitted = DaskXGBRegressor(**self._parameters())
        fitted.client = client
        fitted.fit(features, columns[0], sample_weight=columns[1])
        model = XGBRegressor()
        model.load_model(fitted.get_booster().save_raw("ubj"))
        return model

    def predict(self, features: np.ndarray, protocols: np.ndarray) -> np.ndarray:
        """Predicted log ratio of each row, by the model of the protocol that the row was measured under."""
        predicted = np.empty(len(features), dtype=np.float32)
        for protocol in (TCP, QUIC):
            chosen = protocols == protocol
            if chosen.any():
                inputs = self._inputs(features[chosen], protocols[chosen])
                predicted[chosen] = self.models[protocol].predict(inputs)
        return predicted

    def _inputs(self, features: np.ndarray, protocols: np.ndarray) -> np.ndarray:
        return np.column_stack([features, protocols]).astype(np.float32) if self.settings.joint else features

    def _parameters(self) -> dict:
        parameters = asdict(self.settings)
        del parameters["joint"]
        # One thread: sums of floats then have one order, and a model is the same on every run.
        return {
            "n_estimators": 100,
            "learning_rate": 0.06,
            "subsample": 0.5,
            "colsample_bytree": 0.7,
            "base_score": 0.0,
            "random_state": 1,
            "n_jobs": 1,
            **parameters,
        }
