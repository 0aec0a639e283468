"""Features and classifier are those of `model/golden/`, which TypeScript computes as well."""

import json

import golden_classifier
import golden_exchanges
import numpy as np
import onnx
import onnxruntime
import pytest
from golden_windows import GOLDEN, generate_requests
from hopwise_model.features import compute_features


def test_features_are_as_in_typescript():
    golden = np.array(json.loads(GOLDEN.read_text()), dtype=float)
    features = compute_features(generate_requests())
    assert golden.shape == features.shape == (1_000, 7)
    np.testing.assert_allclose(features, golden, rtol=1e-6, equal_nan=True)
    assert 0 < np.isnan(golden).sum() < 0.2 * golden.size


def test_features_of_exchanges_are_as_in_typescript():
    golden = np.array(json.loads(golden_exchanges.GOLDEN.read_text()), dtype=float)
    assert golden.shape == (1_000, 7)
    np.testing.assert_allclose(golden_exchanges.compute_golden(), golden, rtol=1e-6, equal_nan=True)
    assert 0 < np.isnan(golden).sum() < 0.3 * golden.size


def test_onnx_runtime_answers_as_the_golden_classifier():
    answers = np.frombuffer(golden_classifier.ANSWERS.read_bytes(), "<f4")
    session = onnxruntime.InferenceSession(golden_classifier.MODEL.read_bytes(), providers=["CPUExecutionProvider"])
    (answered,) = session.run(None, {"features": golden_classifier.generate_rows()})
    assert answers.shape == (10_000,)
    assert np.abs(answered.ravel() - answers).max() <= 1e-6
    assert 0.1 < (answers > 0).mean() < 0.9


def test_the_golden_classifier_is_what_the_export_writes():
    trees = golden_classifier.train_trees()
    exported = onnx.load_from_string(golden_classifier.to_onnx(trees, golden_classifier.COLUMNS))
    golden = onnx.load(golden_classifier.MODEL)
    assert exported.metadata_props == golden.metadata_props
    (node,), (expected,) = exported.graph.node, golden.graph.node
    for attribute, wanted in zip(node.attribute, expected.attribute, strict=True):
        # NumPy's logarithm, and so leaf values, differ in the last bits between processors.
        assert list(attribute.floats) == pytest.approx(list(wanted.floats), rel=1e-4, abs=1e-7)
        attribute.ClearField("floats")
        wanted.ClearField("floats")
        assert attribute == wanted
