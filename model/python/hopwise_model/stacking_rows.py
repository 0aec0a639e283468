"""Rows of `npm run bench -- accuracy rows`: what hopwise predicted from a load, beside what was measured."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import InputError

PROTOCOLS = ("h1", "h2", "h3")
KNOWLEDGE = ("given", "udp", "estimated")
REQUIRED = ("page", "network", "knowledge", "features", "predictedMs", "decision", "rule", "costMs")


@dataclass(frozen=True)
class StackingRows:
    """Rows with one kind of knowledge.

    `features` has shape (rows, names) with NaN for what is not known. `predicted` and `costs` have shape (rows, 3), in ms
    by `PROTOCOLS`; NaN for a protocol that cannot carry the page, or was not measured. `decision` and `rule` are indices.
    """

    names: tuple[str, ...]
    features: np.ndarray
    predicted: np.ndarray
    costs: np.ndarray
    decision: np.ndarray
    rule: np.ndarray
    pages: np.ndarray
    networks: np.ndarray

    def __len__(self) -> int:
        return len(self.pages)

    def take(self, chosen: np.ndarray) -> "StackingRows":
        return StackingRows(
            self.names,
            *(
                values[chosen]
                for values in (
                    self.features,
                    self.predicted,
                    self.costs,
                    self.decision,
                    self.rule,
                    self.pages,
                    self.networks,
                )
            ),
        )


def read_rows(path: str) -> dict[str, StackingRows]:
    """Reads a file, by knowledge. Raises InputError naming the line that cannot be used."""
    rows = [_parse(line, f"{path}, line {number}") for number, line in enumerate(Path(path).read_text().splitlines(), 1)]
    if not rows:
        raise InputError(f"{path}: expected lines of npm run bench -- accuracy rows, found none")
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
    if row["knowledge"] not in KNOWLEDGE:
        raise InputError(f"{where}: knowledge: expected one of {', '.join(KNOWLEDGE)}, found {row['knowledge']!r}")
    for name in ("features", "predictedMs", "costMs"):
        values = row[name]
        if not isinstance(values, dict) or not all(_is_number(value) or value is None for value in values.values()):
            raise InputError(f"{where}: {name}: expected numbers by name")
    if not row["features"]:
        raise InputError(f"{where}: features: expected at least one")
    for name in ("predictedMs", "costMs"):
        if not row[name] or not all(key in PROTOCOLS and value is not None and value > 0 for key, value in row[name].items()):
            raise InputError(f"{where}: {name}: expected positive times by protocol")
    for name in ("decision", "rule"):
        if row[name] not in row["costMs"]:
            raise InputError(f"{where}: {name}: expected a protocol that costMs has, found {row[name]!r}")
    return row


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value)


def _table(names: tuple[str, ...], rows: list[dict]) -> StackingRows:
    def times(name: str) -> np.ndarray:
        return np.array([[row[name].get(protocol, np.nan) for protocol in PROTOCOLS] for row in rows])

    def choices(name: str) -> np.ndarray:
        return np.array([PROTOCOLS.index(row[name]) for row in rows])

    return StackingRows(
        names,
        np.array([[np.nan if row["features"][name] is None else row["features"][name] for name in names] for row in rows]),
        times("predictedMs"),
        times("costMs"),
        choices("decision"),
        choices("rule"),
        np.array([str(row["page"]) for row in rows]),
        np.array([str(row["network"]) for row in rows]),
    )
