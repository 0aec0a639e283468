"""The data and model card beside a model, as Markdown. Every figure comes from the training that wrote it."""

from .learner import Settings


def write_card(settings: Settings, figures: dict) -> str:
    """Text of the card; `figures` is what `train` prints."""
    held_out = figures["heldOut"]
    over_oracle = held_out["chosenMs"] / held_out["oracleMs"] - 1
    skipped = ", ".join(f"{count} {reason}" for reason, count in figures["skipped"].items()) or "none"
    kind = "one model, with the protocol as a feature" if settings.joint else "one model per current protocol"
    lines = [
        "# Data",
        "",
        f"- {figures['requests']} requests on {figures['conditions']} network conditions; skipped rows: {skipped}",
        f"- {figures['testConditions']} conditions judge the result and had no part in choosing the settings",
        "- the cost of a choice is the condition's mean request time; failed requests have no part in it",
        "",
        "# Model",
        "",
        f"- gradient-boosted trees, {kind}: depth {settings.max_depth}, child weight {settings.min_child_weight}",
        *(f"- requests over {name}: {rule}" for name, rule in figures["policy"].items()),
        f"- recognition window: {figures['recognitionWindowS']} s",
        f"- fitted by {figures['workers']} {'process' if figures['workers'] == 1 else 'processes'}",
        "",
        "| conditions held out | mean request time (ms) |",
        "| --- | --- |",
        f"| the model's choices | {held_out['chosenMs']:.1f} ({100 * over_oracle:.1f}% above the best choice) |",
        f"| the trees alone | {held_out['treesMs']:.1f} |",
        f"| always TCP | {held_out['alwaysTcpMs']:.1f} |",
        f"| always QUIC | {held_out['alwaysQuicMs']:.1f} |",
        f"| best choice of each condition | {held_out['oracleMs']:.1f} |",
        "",
    ]
    for name, shares in figures["importances"].items():
        lines += [f"| feature ({name}) | share of the gain |", "| --- | --- |"]
        ranked = sorted(shares.items(), key=lambda item: -item[1])
        lines += [f"| {feature} | {share:.3f} |" for feature, share in ranked] + [""]
    return "\n".join(lines)
