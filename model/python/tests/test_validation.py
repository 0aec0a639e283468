import numpy as np
from generated_log import generate_rows, write_log

from hopwise_model.costs import compute_costs
from hopwise_model.features import compute_features
from hopwise_model.request_log import read_log
from hopwise_model.validation import predict_held_out, split_conditions


def test_no_condition_is_on_both_sides(tmp_path):
    rows = read_log(write_log(tmp_path / "log.csv", generate_rows(20))).rows
    select, test = split_conditions(rows, seed=1)
    assert rows.loc[test, "condition"].nunique() == 5  # a quarter of 20
    assert not set(rows.loc[select, "condition"]) & set(rows.loc[test, "condition"])

    class Memory:
        """Answers 1 for features that it was fitted to."""

        def fit(self, features, protocols, costs):
            self.seen = {row.tobytes() for row in costs}
            return self

        def predict(self, features, protocols):
            return np.zeros(len(features))

    fitted = []

    def make():
        fitted.append(Memory())
        return fitted[-1]

    costs = compute_costs(rows)
    predict_held_out(make, compute_features(rows), rows, costs, seed=1)
    # A condition's costs are its own: each of 5 folds leaves out those of 4 conditions.
    assert [len(memory.seen) for memory in fitted] == [16] * 5
