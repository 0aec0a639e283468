"""The card beside the extension's model, as Markdown. Every figure comes from the training that wrote it."""

FIXED = ["always TCP", "always QUIC", "QUIC unless hindered"]
SPLITS = {"folds": "train, held out by folds", "validation": "validation", "test": "test"}


def write_session_card(figures: dict) -> str:
    """Text of the card; `figures` is what `requests` prints."""
    splits = {name: title for name, title in SPLITS.items() if name in figures}
    judged = [name for name in splits if name != "folds"]
    calibration = figures["calibration"]
    lines = [
        "# The model that chooses the transport",
        "",
        *_write_verdict(figures),
        "",
        f"{figures['kept']}; {figures['file']['bytes']} bytes, within {figures['file']['maxDifference']:.0e} of Python. They predict log(time over TCP / time "
        "over QUIC) of a network's requests from Table 1's features of the requests so far, as the extension computes them. Written, with this card, by "
        "`npm run model -- requests --table model/data/requests.jsonl.gz --out model/trained`.",
        "",
        "## Data",
        "",
        "Sessions of `npm run lab -- requests` ([the table](../data/README.md)). A cell is a page on a network, before or after it changes, with one stack of",
        "servers; a choice costs the cell's mean request time over the transport. Splits have no page, network or server in common.",
        "",
        *_head("split, servers", "conditions", "cells", "requests", "packets over 1 ms late (worst tenth of cells)"),
        *(_row(name, *_list_data(each)) for name, each in figures["data"].items()),
        "",
        "## Choices, held out",
        "",
        "Mean request times in ms, each cell alike. Folds of the train split hold out page, network and stack of servers together. “Unless hindered” knows what",
        "the network does to UDP.",
        "",
        *_head("", *splits.values()),
        *(
            _row(name, *(f"{figures[split]['means'][name]:.1f}" for split in splits))
            for name in ["trees", "trees unless hindered", *FIXED, "best choice"]
        ),
        "",
        "Trees unless hindered less QUIC unless hindered, ms ± standard error over conditions:",
        "",
        *_head("requests so far over", *splits.values(), "used"),
        *(
            _row(title, *(_write_comparison(figures[split]["againstRule"][name]) for split in splits), figures["uses"][name])
            for name, title in (("tcp", "TCP"), ("quic", "QUIC"))
        ),
        "",
        *_head("learner", "folds of train, ms"),
        *(_row(name, f"{time:.1f}") for name, time in figures["heldOut"].items()),
        "",
        *_head("recognition window, s (Figure 14)", "folds of train, ms"),
        *(_row(window, f"{time:.1f}") for window, time in figures["windowsS"].items()),
        "",
    ]
    for split in judged:
        lines += _write_split(split, figures[split])
    lines += [
        "## Calibration",
        "",
        f"P(QUIC is faster) = 1 / (1 + exp(−({calibration['slope']:.3f} × prediction + {calibration['offset']:.3f}))), fitted to the folds' predictions.",
        "",
        *_head("split", "Brier score", "of the share alone", "stated → true, by fifths"),
        *(_row(split, *_list_calibration(figures[split]["calibration"])) for split in judged),
        "",
    ]
    return "\n".join(lines)


def _write_verdict(figures: dict) -> list[str]:
    uses = figures["uses"]
    refused = [title for name, title in (("tcp", "TCP"), ("quic", "QUIC")) if uses[name] == "rule"]
    if refused:
        where = "" if len(refused) == len(uses) else f" while requests go over {refused[0]}"
        verdict = (
            f"**The trees do not clearly beat “QUIC unless hindered” on held-out cells{where}**, by more than the standard error on the folds and on "
            "validation: there the extension uses that rule with rollback, as `uses` in `transport.json` says."
        )
    else:
        verdict = "**The trees beat “QUIC unless hindered” on held-out cells**, and the extension uses them."
    means = figures["folds"]["means"]
    fixed = min(("always TCP", "always QUIC"), key=means.__getitem__)
    trees = means["trees unless hindered"]
    return [verdict, "", f"On the folds requests take {trees:.1f} ms by the trees, and {means[fixed]:.1f} ms by the better fixed choice, {fixed}."]


def _write_comparison(comparison: dict) -> str:
    return f"{comparison['differenceMs']:+.1f} ± {comparison['errorMs']:.1f}"


def _write_split(split: str, figures: dict) -> list[str]:
    replay, cells = figures["replay"], figures["cells"]
    names = [*FIXED, "trees unless hindered", "best choice"]
    return [
        f"## Whole sessions: {split}",
        "",
        f"{replay['sessions']} pairs of sessions replayed request by request, from TCP on, with a decision every {replay['requestsPerDecision']} requests. What happens",
        "to UDP is known of the network at the beginning only, not after a change.",
        "",
        *_head("choices", "mean request time, ms", "switches a session", "taken back"),
        *(
            _row(name, f"{each['meanMs']:.1f}", _write_count(each, "switches"), _write_count(each, "rollbacks"))
            for name, each in replay["choices"].items()
        ),
        "",
        *_head("requests a decision (Figure 14), trees with rollback", "mean request time, ms"),
        *(_row(period, f"{time:.1f}") for period, time in replay["periods"].items()),
        "",
        f"## Cells: {split}",
        "",
        *_head("mean request times, ms", "cells", *names),
        *(_row(kind, each["cells"], *(f"{each[name]:.0f}" for name in names)) for kind, each in cells["kinds"].items()),
        "",
        *_head("where the trees lose most", "servers", *names),
        *(
            _row(f"{each['condition']}, {each['kind']}", each["stack"], *(f"{each[name]:.0f}" for name in names))
            for each in cells["worst"]
        ),
        "",
    ]


def _write_count(figures: dict, name: str) -> str:
    return f"{figures[name]:.2f}" if name in figures else "–"


def _list_data(data: dict) -> list[str]:
    counts = [str(data[name]) for name in ("conditions", "cells", "requests")]
    return [*counts, f"{data['lateShare']:.2%} ({data['lateShareOfWorstTenth']:.2%})"]


def _list_calibration(calibration: dict) -> list[str]:
    bins = ", ".join(f"{each['stated']:.2f} → {each['true']:.2f}" for each in calibration["bins"])
    return [f"{calibration['brier']:.3f}", f"{calibration['brierOfShare']:.3f}", bins]


def _head(*titles: str) -> list[str]:
    return [_row(*titles), _row(*["---"] * len(titles))]


def _row(*values: object) -> str:
    return f"| {' | '.join(map(str, values))} |"
