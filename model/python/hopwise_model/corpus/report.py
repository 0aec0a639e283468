"""What a corpus says as a whole: which protocol wins where, and what changes of servers gain."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import pandas as pd
import pyarrow.parquet as pq

from .files import open_files
from .rows import PROTOCOLS

# The report lists the most frequent origins, CDNs, networks, values of each label, and errors.
MAX_ENTRIES = 50
BATCH_ROWS = 10_000


def make_report(out: str, labels: pd.DataFrame | None) -> dict:
    """The report on the tables in `out`, which are read in batches of rows."""
    pages, errors = _Wins(), Counter()
    decisions, actions = Counter(), Counter()
    networks, by_label = defaultdict(_Wins), defaultdict(lambda: defaultdict(_Wins))
    acted_gain = 0.0
    for row in _read_rows(out, "pages"):
        if row["error"] is not None:
            errors[row["error"]] += 1
            continue
        pages.add(row)
        networks[row["networkKind"]].add(row)
        for label, value in _labels_of(labels, row["recording"]):
            by_label[label][value].add(row)
        decisions[row["decision"]] += 1
        if row["decision"] == "act":
            actions[row["action"]] += 1
            acted_gain += row["gain"]

    origins, cdns = defaultdict(_Choices), defaultdict(_Choices)
    for row in _read_rows(out, "origins"):
        origins[row["origin"]].add(row)
        if row["cdn"] is not None:
            cdns[row["cdn"]].add(row)

    gains = defaultdict(_Gains)
    for row in _read_rows(out, "advice"):
        gains[row["kind"]].add(row)
    return {
        "recordings": pages.count + errors.total(),
        "errors": {"count": errors.total(), "reasons": dict(errors.most_common(MAX_ENTRIES))},
        "pages": pages.summary(),
        "decisions": dict(decisions.most_common()),
        "actions": dict(actions.most_common()),
        "meanGainOfActions": acted_gain / decisions["act"] if decisions["act"] else None,
        "networks": _most_frequent(networks),
        "labels": {label: _most_frequent(values) for label, values in sorted(by_label.items())},
        "origins": _most_frequent(origins),
        "cdns": _most_frequent(cdns),
        "advice": {
            kind: gains[kind].summary(pages.count)
            for kind in sorted(gains, key=lambda kind: (-gains[kind].total, kind))
        },
    }


class _Wins:
    """Pages: how often each protocol is the best for all origins, and how much longer the browser's own choice takes on average."""

    def __init__(self):
        self.count, self.best = 0, Counter()
        self._baseline_regret = 0.0

    def add(self, row: dict) -> None:
        self.count += 1
        self.best[row["best"]] += 1
        self._baseline_regret += row["baselineMs"] / row[f"{row['best']}Ms"] - 1

    def summary(self) -> dict:
        shares = {name: self.best[name] / self.count for name in PROTOCOLS} if self.count else {}
        regret = self._baseline_regret / self.count if self.count else None
        return {"pages": self.count, "best": shares, "browserOverBest": regret}


class _Choices:
    """An origin's pages: which protocol it is given, of those where that matters."""

    def __init__(self):
        self.count, self._decided = 0, Counter()

    def add(self, row: dict) -> None:
        self.count += 1
        if row["decided"]:
            self._decided[row["protocol"]] += 1

    def summary(self) -> dict:
        return {"pages": self.count, "decided": {name: self._decided[name] for name in PROTOCOLS}}


class _Gains:
    """Pages that are given an advice."""

    def __init__(self):
        self._count, self.total = 0, 0.0

    def add(self, row: dict) -> None:
        self._count += 1
        self.total += row["gain"]

    def summary(self, pages: int) -> dict:
        return {
            "pages": self._count,
            "gainWhereAdvised": self.total / self._count,
            "gainOverAllPages": self.total / pages,
        }


def _most_frequent(groups: dict) -> dict[str, dict]:
    names = sorted(groups, key=lambda name: (-groups[name].count, name))
    return {name: groups[name].summary() for name in names[:MAX_ENTRIES]}


def _labels_of(labels: pd.DataFrame | None, recording: str) -> list[tuple[str, str]]:
    if labels is None or recording not in labels.index:
        return []
    return [(label, value) for label, value in labels.loc[recording].items() if isinstance(value, str)]


def _read_rows(out: str, table: str) -> Iterator[dict]:
    files, root = open_files(out)
    with files.open(f"{root}/{table}.parquet", "rb") as file:
        for batch in pq.ParquetFile(file).iter_batches(batch_size=BATCH_ROWS):
            yield from batch.to_pylist()


def write_markdown(report: dict) -> str:
    """The report for people."""
    errors = report["errors"]
    lines = [
        "# Corpus",
        "",
        f"{report['recordings']} recordings, of which {errors['count']} could not be predicted. All times and gains are predicted.",
        "",
        "`browser over best`: how much longer pages load as the browser does by itself than with the best protocol for all origins.",
        "",
        "## Which protocol is best",
        *_wins_table("all", {"pages": report["pages"]}),
        *_wins_table("network", report["networks"]),
    ]
    for label, values in report["labels"].items():
        lines += _wins_table(label, values)
    lines += ["", "## What hopwise would do", "", "| decision | pages |", "| --- | --- |"]
    lines += [f"| {name} | {count} |" for name, count in report["decisions"].items()]
    if report["meanGainOfActions"] is not None:
        lines += ["", f"Actions shorten the load time by {report['meanGainOfActions']:.1%} on average."]
    lines += _advice_table(report["advice"])
    lines += _choices_table("CDN", report["cdns"]) + _choices_table("origin", report["origins"])
    if errors["reasons"]:
        lines += ["", "## Errors", "", "| recordings | reason |", "| --- | --- |"]
        lines += [f"| {count} | {_cell(reason)} |" for reason, count in errors["reasons"].items()]
    return "\n".join(lines) + "\n"


def _wins_table(name: str, groups: dict[str, dict]) -> list[str]:
    lines = ["", f"| {_cell(name)} | pages | h1 | h2 | h3 | browser over best |", "| --- | --- | --- | --- | --- | --- |"]
    for group, wins in groups.items():
        if wins["pages"]:
            shares = " | ".join(f"{wins['best'][protocol]:.0%}" for protocol in PROTOCOLS)
            lines.append(f"| {_cell(group)} | {wins['pages']} | {shares} | {wins['browserOverBest']:.1%} |")
    return lines


def _advice_table(advice: dict[str, dict]) -> list[str]:
    lines = ["", "## Changes of servers", ""]
    if not advice:
        return [*lines, "No change of the servers is predicted to gain enough to be advised."]
    lines += ["| change | pages | gain there | gain over all pages |", "| --- | --- | --- | --- |"]
    for kind, gain in advice.items():
        lines.append(f"| {kind} | {gain['pages']} | {gain['gainWhereAdvised']:.1%} | {gain['gainOverAllPages']:.1%} |")
    return lines


def _choices_table(name: str, groups: dict[str, dict]) -> list[str]:
    """The groups whose protocol matters somewhere; a sentence where none does."""
    lines = ["", f"## Pages on which the protocol of the {name} matters", ""]
    mattering = {group: choices for group, choices in groups.items() if any(choices["decided"].values())}
    if not mattering:
        return [*lines, f"None: on no page does the protocol of one {name} surely move the load time."]
    lines += [f"| {name} | pages | h1 | h2 | h3 |", "| --- | --- | --- | --- | --- |"]
    for group, choices in mattering.items():
        counts = " | ".join(str(choices["decided"][protocol]) for protocol in PROTOCOLS)
        lines.append(f"| {_cell(group)} | {choices['pages']} | {counts} |")
    return lines


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
