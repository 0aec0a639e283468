import numpy as np

from hopwise_model.choice import Policy, Rule, choose_policy
from hopwise_model.request_log import QUIC, TCP

FIXED, CHECKED, TREES = Rule(False, False), Rule(False, True), Rule(True, False)


def test_each_protocol_has_its_own_rule():
    policy = Policy(QUIC, {TCP: TREES, QUIC: CHECKED})
    protocols = np.array([TCP, TCP, QUIC, QUIC, QUIC])
    predicted = np.array([-1.0, 1.0, -1.0, -1.0, -1.0])
    checked = np.array([1.0, -1.0, -1.0, 1.0, np.nan])
    # Over TCP the trees decide; over QUIC the checker, and the fixed rule where it has nothing to compare.
    assert policy.choose(protocols, predicted, checked).tolist() == [False, True, False, True, True]
    assert policy.describe() == {"TCP": "trees", "QUIC": "always QUIC, then the rollback checker"}


def held_out(gains_ms):
    """Conditions in which the trees choose TCP and QUIC would take 100 ms; `gains_ms` is what TCP takes less."""
    conditions = np.repeat(np.arange(len(gains_ms)), 2)
    costs = np.column_stack([100 - np.repeat(gains_ms, 2), np.full(len(conditions), 100.0)])
    return np.tile([TCP, QUIC], len(gains_ms)), conditions, costs


def test_trees_that_clearly_gain_replace_the_fixed_rule():
    # A last condition makes QUIC the better fixed rule; the trees choose QUIC there.
    protocols, conditions, costs = held_out(np.array([10.0, 12.0, 8.0, 11.0, -500.0]))
    predicted = np.where(conditions == 4, 1.0, -1.0)
    policy = choose_policy(protocols, conditions, costs, predicted, np.full(len(costs), np.nan))
    assert policy == Policy(QUIC, {TCP: TREES, QUIC: TREES})


def test_gains_within_their_standard_error_leave_the_fixed_rule():
    # The trees gain 20 + 20 and lose 35 ms: less than the standard error.
    protocols, conditions, costs = held_out(np.array([20.0, 20.0, -35.0, -500.0]))
    predicted = np.where(conditions == 3, 1.0, -1.0)
    policy = choose_policy(protocols, conditions, costs, predicted, np.full(len(costs), np.nan))
    assert policy == Policy(QUIC, {TCP: FIXED, QUIC: FIXED})


def test_a_checker_that_is_misled_over_one_protocol_is_kept_for_the_other_only():
    # Condition 4 is where QUIC is much faster. Over TCP the checker compares with another network, and is wrong there.
    protocols, conditions, costs = held_out(np.array([10.0, 12.0, 8.0, 11.0, -500.0]))
    checked = np.where((conditions == 4) & (protocols == QUIC), 1.0, -1.0)
    policy = choose_policy(protocols, conditions, costs, np.ones(len(costs)), checked)
    assert policy == Policy(QUIC, {TCP: FIXED, QUIC: CHECKED})
