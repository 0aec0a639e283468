"""What decides at a request: a fixed rule or the trees, and after a switch the rollback checker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .request_log import QUIC, TCP


@dataclass(frozen=True)
class Rule:
    """`trees` decide, else the fixed rule; with `rollback` the checker does, where it has something to compare."""

    trees: bool
    rollback: bool


NAMES = {TCP: "TCP", QUIC: "QUIC"}
# They are listed from the simplest to the least simple.
RULES = [Rule(trees, rollback) for trees in (False, True) for rollback in (False, True)]


@dataclass(frozen=True)
class Policy:
    """The rule for requests under each current protocol; `fixed` is the protocol of the fixed rule."""

    fixed: int
    rules: dict[int, Rule]

    def __str__(self) -> str:
        return ", ".join(f"over {protocol} {rule}" for protocol, rule in self.describe().items())

    def describe(self) -> dict[str, str]:
        """The rule by name of the current protocol."""

        def describe_rule(rule: Rule) -> str:
            first = "trees" if rule.trees else f"always {NAMES[self.fixed]}"
            return f"{first}, then the rollback checker" if rule.rollback else first

        return {NAMES[protocol]: describe_rule(rule) for protocol, rule in self.rules.items()}

    def choose(self, protocols: np.ndarray, predicted: np.ndarray, checked: np.ndarray) -> np.ndarray:
        """Whether to use QUIC, given the log ratios of the trees and of the checker (NaN where it has none)."""
        use_quic = np.empty(len(protocols), dtype=bool)
        for protocol, rule in self.rules.items():
            own = protocols == protocol
            chosen = predicted > 0 if rule.trees else np.full(len(own), self.fixed == QUIC)
            if rule.rollback:
                chosen = np.where(np.isnan(checked), chosen, checked > 0)
            use_quic[own] = chosen[own]
        return use_quic


def choose_policy(
    protocols: np.ndarray, conditions: np.ndarray, costs: np.ndarray, predicted: np.ndarray, checked: np.ndarray
) -> Policy:
    """The policy for requests whose log ratios come from models that have not seen their conditions.

    A less simple rule replaces a simpler one only where its gain over conditions exceeds the gain's standard error.
    """
    fixed = QUIC if costs[:, QUIC].sum() < costs[:, TCP].sum() else TCP
    rules = {}
    for protocol in (TCP, QUIC):
        own = protocols == protocol
        kept = None
        for rule in RULES:
            use_quic = Policy(fixed, {protocol: rule}).choose(protocols, predicted, checked)
            cost = np.where(use_quic, costs[:, QUIC], costs[:, TCP])[own]
            if kept is None or _is_clearly_less(cost - kept[1], conditions[own]):
                kept = rule, cost
        rules[protocol] = kept[0]
    return Policy(fixed, rules)


def _is_clearly_less(difference: np.ndarray, conditions: np.ndarray) -> bool:
    """Whether a difference is below 0 by more than its standard error, conditions being what was sampled."""
    _, group = np.unique(conditions, return_inverse=True)
    sums = np.bincount(group, difference)
    return sums.mean() < -sums.std(ddof=1) / np.sqrt(len(sums))
