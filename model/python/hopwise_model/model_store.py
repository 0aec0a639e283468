"""A model on disk: `model.json` (version, features, settings, checker, policy, figures, hashes) and one file of trees per model."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from xgboost import XGBRegressor

from .card import write_card
from .choice import NAMES, Policy, Rule
from .errors import InputError, describe_problem
from .features import FEATURES
from .learner import Learner, Settings
from .request_log import QUIC, TCP
from .rollback import RollbackChecker

FORMAT_VERSION = 2
MANIFEST = "model.json"
CARD = "CARD.md"


@dataclass(frozen=True)
class Model:
    """A fitted learner and checker, which of them decides when, and `card`, the figures of the training."""

    learner: Learner
    checker: RollbackChecker
    policy: Policy
    card: dict


def tree_files(settings: Settings) -> dict[str, int]:
    """File name of each model, with the protocol that it answers for."""
    return {"joint.ubj": TCP} if settings.joint else {"tcp.ubj": TCP, "quic.ubj": QUIC}


def save_model(model: Model, folder: str | Path) -> None:
    """Writes a model into a folder, which is created if necessary."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    hashes = {}
    for name, protocol in tree_files(model.learner.settings).items():
        model.learner.models[protocol].save_model(folder / name)
        hashes[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    manifest = {
        "formatVersion": FORMAT_VERSION,
        "features": list(FEATURES),
        "settings": asdict(model.learner.settings),
        "checker": asdict(model.checker),
        "policy": {
            "fixed": NAMES[model.policy.fixed],
            "rules": {NAMES[protocol]: asdict(rule) for protocol, rule in model.policy.rules.items()},
        },
        "sha256": hashes,
        "card": model.card,
    }
    # Last: a folder without its manifest is not taken for a model.
    (folder / CARD).write_text(write_card(model.learner.settings, model.card))
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")


def load_model(folder: str | Path) -> Model:
    """Reads a model.

    Raises InputError if a file is missing, truncated or altered, or of another version.
    """
    folder = Path(folder)
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        version = manifest["formatVersion"]
        if version != FORMAT_VERSION:
            raise InputError(f"{folder / MANIFEST}: expected format version {FORMAT_VERSION}, found {version}")
        if manifest["features"] != list(FEATURES):
            raise InputError(f"{folder / MANIFEST}: expected the features {', '.join(FEATURES)}")
        learner = Learner(Settings(**manifest["settings"]))
        for name, protocol in tree_files(learner.settings).items():
            contents = (folder / name).read_bytes()
            if hashlib.sha256(contents).hexdigest() != manifest["sha256"][name]:
                raise InputError(f"{folder / name}: expected the SHA-256 that {MANIFEST} has, the file is damaged")
            learner.models[protocol] = XGBRegressor()
            learner.models[protocol].load_model(bytearray(contents))
        if learner.settings.joint:
            learner.models[QUIC] = learner.models[TCP]
        protocols = {name: protocol for protocol, name in NAMES.items()}
        rules = {protocol: Rule(**manifest["policy"]["rules"][name]) for name, protocol in protocols.items()}
        return Model(
            learner,
            _read_checker(**manifest["checker"]),
            Policy(protocols[manifest["policy"]["fixed"]], rules),
            manifest["card"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder}: expected a model that `train` wrote: {describe_problem(error)}") from error


def _read_checker(mean: float, variance: float, spreads: list[float]) -> RollbackChecker:
    """Raises ValueError for values that no fit has."""
    values = [float(value) for value in (mean, variance, *spreads)]
    if len(values) != 4 or not all(map(math.isfinite, values)) or values[1] <= 0 or min(values[2:]) < 0:
        raise ValueError(f"checker: expected a mean, a positive variance and two spreads, found {values}")
    return RollbackChecker(values[0], values[1], (values[2], values[3]))
