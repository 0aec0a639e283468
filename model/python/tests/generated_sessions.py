"""Tables of measured sessions for tests: UDP that is hindered shows in first bytes over both transports."""

import gzip
import json
from pathlib import Path

REQUESTS = 24
OPEN = {"rttMs": 20, "udp": "open"}
POLICED = {"rttMs": 20, "udp": {"policedMbps": 1}}


def make_session(condition, transport, took_ms, *, stack="go", split="train", protocol=None, ttfb_ms=20, changes_before=None, **more):
    """A session whose requests follow each other; `took_ms` is each one's time, or a list of them."""
    times = took_ms if isinstance(took_ms, list) else [took_ms] * REQUESTS
    count = len(times)
    started = [sum(times[:index]) for index in range(count)]
    over = protocol or (3 if transport == "quic" else 2)
    ended = [begin + took for begin, took in zip(started, times)]
    session = {
        "condition": condition,
        "split": split,
        "family": "shop",
        "change": "none" if changes_before is None else "udp-hindered",
        "stack": stack,
        "transport": transport,
        "before": OPEN,
        "after": [],
        "changesBefore": changes_before,
        "changedMs": [],
        "lateShare": 0,
        "refusal": "",
        "requests": {
            "index": list(range(count)),
            "startedMs": started,
            "tookMs": list(times),
            "status": [200] * count,
            "bytes": [5000] * count,
            "protocol": [over] * count,
            "endedMs": ended,
            "ttfbMs": [ttfb_ms] * count,
            "completionMs": list(times),
            "isReused": [1] * count,
            "rttMs": [20 if over == 2 else None] * count,
            "segments": [4 if over == 2 else None] * count,
            "outOfOrder": [0 if over == 2 else None] * count,
        },
    }
    return session | more


def generate_sessions(conditions=24, splits=("train", "validation", "test"), is_known=False):
    """Pages on networks of two kinds: QUIC takes half of TCP's time, or twice as long, which first bytes show.

    It is known that the network hinders UDP, or not.
    """
    sessions = []
    for split in splits:
        for number in range(conditions):
            is_fast = number % 2 == 0
            for stack in ("go", "nginx-quiche"):
                for transport in ("tcp", "quic"):
                    tcp_ms = 100 + number
                    took = tcp_ms if transport == "tcp" else tcp_ms / 2 if is_fast else tcp_ms * 2
                    ttfb = 10 + number / 10 + (0 if is_fast else 30)
                    more = {"before": POLICED if is_known and not is_fast else OPEN}
                    sessions.append(
                        make_session(f"{split}-{number}", transport, took, stack=stack, split=split, ttfb_ms=ttfb, **more)
                    )
    return sessions


def write_table(path: Path, sessions) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(session) + "\n" for session in sessions)
    return path
