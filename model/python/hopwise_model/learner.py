"""Gradient-boosted trees that predict log(time over TCP / time over QUIC); positive means QUIC is faster."""

from dataclasses import asdict, dataclass

import numpy as np
from xgboost import XGBRegressor

from .request_log import TCP, QUIC


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

    def fit(self, features: np.ndarray, protocols: np.ndarray, costs: np.ndarray) -> "Learner":
        """Fits to `costs`, shape (rows, 2) in ms.

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
            self.models[protocol] = self._new_model().fit(
                self._inputs(features, protocols)[chosen], target[chosen], sample_weight=weight[chosen]
            )
        return self

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

    def _new_model(self) -> XGBRegressor:
        parameters = asdict(self.settings)
        del parameters["joint"]
        # One thread: sums of floats then have one order, and a model is the same on every run.
        return XGBRegressor(
            n_estimators=100,
            learning_rate=0.06,
            subsample=0.5,
            colsample_bytree=0.7,
            base_score=0.0,
            random_state=1,
            n_jobs=1,
            **parameters,
        )
