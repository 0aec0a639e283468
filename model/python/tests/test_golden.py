"""Features and classifier are those of `model/golden/`, which TypeScript computes as well."""

import json

import golden_classifier
import numpy as np
import onnxruntime
from golden_windows import GOLDEN, generate_requests
from hopwise_model.features import compute_features


def test_features_are_as_in_typescript():
    golden = np.array(json.loads(GOLDEN.read_text()), dtype=float)
    features = compute_features(generate_requests())
    assert golden.shape == features.shape == (1_000, 7)
    np.testing.assert_allclose(features, golden, rtol=1e-6, equal_nan=True)
    assert 0 < np.isnan(golden).sum() < 0.2 * golden.size


def test_onnx_runtime_answers_as_the_golden_classifier():
    answers = np.frombuffer(golden_classifier.ANSWERS.read_bytes(), "<f4")
    session = onnxruntime.InferenceSession(golden_classifier.MODEL.read_bytes(), providers=["CPUExecutionProvider"])
    (answered,) = session.run(None, {"features": golden_classifier.generate_rows()})
    assert answers.shape == (10_000,)
    assert np.abs(answered.ravel() - answers).max() <= 1e-6
    assert 0.1 < (answers > 0).mean() < 0.9


def test_the_golden_classifier_is_what_the_export_writes():
    trees = golden_classifier.train_trees()
    assert golden_classifier.to_onnx(trees, golden_classifier.COLUMNS) == golden_classifier.MODEL.read_bytes()
