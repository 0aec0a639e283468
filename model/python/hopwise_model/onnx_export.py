"""Writes the trees as ONNX and compares them with Python's."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxmltools.convert import convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from xgboost import XGBRegressor

from .errors import InputError
from .features import FEATURES
from .model_store import Model, tree_files

MAX_BYTES = 300_000
MAX_DIFFERENCE = 1e-6
PARITY_ROWS = 10_000

# Written into the files' metadata, which is at their end: a file that is cut off lacks it.
FORMAT_VERSION = 1


def export_model(model: Model, folder: str | Path) -> dict[str, dict]:
    """Writes one ONNX file per model: input `features`, float32 (rows, 7; 8 with the protocol last if joint), NaN where missing.

    Returns size and largest difference to Python on `PARITY_ROWS` generated rows, by file name.

    Raises InputError if a file is larger than `MAX_BYTES` or differs by more than `MAX_DIFFERENCE`.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    settings = model.learner.settings
    columns = [*FEATURES, "protocol"] if settings.joint else list(FEATURES)
    results = {}
    for name, protocol in tree_files(settings).items():
        trees = model.learner.models[protocol]
        contents = to_onnx(trees, columns)
        difference = check_parity(name, contents, trees, len(columns))
        (folder / name.replace(".ubj", ".onnx")).write_bytes(contents)
        results[name.replace(".ubj", ".onnx")] = {"bytes": len(contents), "maxDifference": difference}
    return results


def check_parity(name: str, contents: bytes, trees: XGBRegressor, columns: int) -> float:
    """Returns the largest difference between a file's answers and those of its trees.

    Raises InputError if it is larger than `MAX_DIFFERENCE`, or the file larger than `MAX_BYTES`.
    """
    inputs = generate_inputs(columns)
    session = onnxruntime.InferenceSession(contents, providers=["CPUExecutionProvider"])
    difference = float(np.abs(session.run(None, {"features": inputs})[0].ravel() - trees.predict(inputs)).max())
    if difference > MAX_DIFFERENCE or len(contents) > MAX_BYTES:
        raise InputError(
            f"{name}: expected at most {MAX_BYTES} bytes and a difference of at most {MAX_DIFFERENCE}, "
            f"got {len(contents)} bytes and {difference:.2g}"
        )
    return difference


def to_onnx(trees: XGBRegressor, columns: list[str]) -> bytes:
    """An ONNX file of the trees; its metadata has the format's version and the columns' names."""
    inputs = [("features", FloatTensorType([None, len(columns)]))]
    # Without a name the converter draws one, and the same trees give other bytes each time.
    graph = convert_xgboost(trees, name="hopwise", initial_types=inputs, target_opset=15)
    onnx.helper.set_model_props(
        graph, {"hopwise.version": str(FORMAT_VERSION), "hopwise.features": ",".join(columns)}
    )
    return graph.SerializeToString()


def generate_inputs(columns: int) -> np.ndarray:
    """Rows that span the features' ranges, a tenth of their values missing; the same on every run."""
    random = np.random.default_rng(1)
    inputs = 10 ** random.uniform(-3, 4, (PARITY_ROWS, columns))
    inputs[random.random(inputs.shape) < 0.1] = np.nan
    return inputs.astype(np.float32)
