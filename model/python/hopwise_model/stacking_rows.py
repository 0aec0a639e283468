"""Rows of `npm run bench -- reading --rows` and `accuracy rows`: what hopwise answered to a recorded load, beside true load times."""

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from .errors import InputError

PROTOCOLS = ("h1", "h2", "h3")
KNOWLEDGE = ("udp", "estimated")
RECORDED = (*PROTOCOLS, "natural")
REQUIRED = ("page", "network", "knowledge", "recorded", "udp", "features", "decision", "rule", "costMs")


@dataclass(frozen=True)
class StackingRows:
    """Rows with one kind of knowledge.

    `features` has shape (rows, names) with NaN for what is not known. `costs` has shape (rows, 3), in ms by `PROTOCOLS`, with
    NaN where a protocol was not measured. `decision` and `rule` are indices of protocols; `recorded` and `udp` are names.
    """

    names: tuple[str, ...]
    features: np.ndarray
    costs: np.ndarray
    decision: np.ndarray
    rule: np.ndarray
    pages: np.ndarray
    networks: np.ndarray
    recorded: np.ndarray
    udp: np.ndarray

    def __len__(self) -> int:
        return len(self.pages)

    def take(self, chosen: np.ndarray) -> "StackingRows":
        others = [field.name for field in fields(self) if field.name != "names"]
        return replace(self, **{name: getattr(self, name)[chosen] for name in others})

    @property
    def regrets(self) -> np.ndarray:
        """Time of each protocol over that of the fastest, less 1; infinite where it was not measured."""
        costs = np.where(np.isnan(self.costs), np.inf, self.costs)
        return costs / costs.min(axis=1, keepdims=True) - 1


def read_rows(path: str) -> dict[str, StackingRows]:
    """Reads a file, by knowledge. Raises InputError naming the line that cannot be used."""
    rows = [_parse(line, f"{path}, line {number}") for number, line in enumerate(Path(path).read_text().splitlines(), 1)]
    if not rows:
        raise InputError(f"{path}: expected lines of npm run bench -- reading --rows, found none")
    names = tuple(rows[0]["features"])
    for number, row in enumerate(rows, 1):
        if tuple(row["features"]) != names:
            raise InputError(f"{path}, line {number}: expected the features of line 1: {', '.join(names)}")
    return {
        knowledge: _table(names, [row for row in rows if row["knowledge"] == knowledge])
        for knowledge in KNOWLEDGE
        if any(row["knowledge"] == knowledge for row in rows)
    }


def _parse(line: str, where: str) -> dict:
    try:
        row = json.loads(line)
    except ValueError:
        raise InputError(f"{where}: expected JSON") from None
    if not isinstance(row, dict) or not all(name in row for name in REQUIRED):
        raise InputError(f"{where}: expected an object with {', '.join(REQUIRED)}")
    for name, known in (("knowledge", KNOWLEDGE), ("recorded", RECORDED)):
        if row[name] not in known:
            raise InputError(f"{where}: {name}: expected one of {', '.join(known)}, found {row[name]!r}")
    for name in ("features", "costMs"):
        values = row[name]
        if not isinstance(values, dict) or not all(_is_number(value) or value is None for value in values.values()):
            raise InputError(f"{where}: {name}: expected numbers by name")
    if not row["features"]:
        raise InputError(f"{where}: features: expected at least one")
    costs = row["costMs"]
    if not costs or not all(key in PROTOCOLS and value is not None and value > 0 for key, value in costs.items()):
        raise InputError(f"{where}: costMs: expected positive times by protocol")
    for name in ("decision", "rule"):
        if row[name] not in row["costMs"]:
            raise InputError(f"{where}: {name}: expected a protocol that costMs has, found {row[name]!r}")
    return row


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value)


def _table(names: tuple[str, ...], rows: list[dict]) -> StackingRows:
    def choices(name: str) -> np.ndarray:
        return np.array([PROTOCOLS.index(row[name]) for row in rows])

    def words(name: str) -> np.ndarray:
        return np.array([str(row[name]) for row in rows])

    return StackingRows(
        names=names,
        features=np.array(
            [[np.nan if row["features"][name] is None else row["features"][name] for name in names] for row in rows]
        ),
        costs=np.array([[row["costMs"].get(protocol, np.nan) for protocol in PROTOCOLS] for row in rows]),
        decision=choices("decision"),
        rule=choices("rule"),
        pages=words("page"),
        networks=words("network"),
        recorded=words("recorded"),
        udp=words("udp"),
    )
