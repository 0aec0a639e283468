"""The features are those of `model/golden/windows.json`, which TypeScript computes as well."""

import json

import numpy as np

from golden_windows import GOLDEN, generate_requests
from hopwise_model.features import compute_features


def test_features_are_as_in_typescript():
    golden = np.array(json.loads(GOLDEN.read_text()), dtype=float)
    features = compute_features(generate_requests())
    assert golden.shape == features.shape == (1_000, 7)
    np.testing.assert_allclose(features, golden, rtol=1e-6, equal_nan=True)
    assert 0 < np.isnan(golden).sum() < 0.2 * golden.size
