"""Generated recordings of small pages, for tests and for measuring `corpus` at scale.

`python tests/corpus_files.py DIR COUNT` writes COUNT of them, a thousand in each folder.
"""

import gzip
import json
import random
import sys
from pathlib import Path


def make_recording(seed: int) -> dict:
    """A page of one document and 3 to 8 images from its own origin and a CDN, over HTTP/2 on a link of its own."""
    draw = random.Random(seed)
    rtt = draw.choice([15.0, 40.0, 90.0])
    origins = [f"https://site{seed % 7}.test", "https://d1.cloudfront.net"]
    requests = [make_request(0, f"{origins[0]}/", "document", 0.0, rtt, 30_000, is_new=True)]
    for number in range(1, draw.randint(4, 9)):
        origin = origins[number % 2]
        bytes_ = draw.randint(5_000, 60_000)
        start = requests[0]["endMs"] + number
        requests.append(make_request(number, f"{origin}/{number}.png", "image", start, rtt, bytes_, is_new=number == 1))
    plt = max(request["endMs"] for request in requests) + 5
    return {
        "format": "hopwise-recording",
        "version": 1,
        "url": f"{origins[0]}/",
        "recordedAt": "2026-01-01T00:00:00.000Z",
        "browser": "Chromium 150",
        "pltMs": plt,
        "domContentLoadedMs": requests[0]["endMs"] + 2,
        "firstContentfulPaintMs": None,
        "largestContentfulPaintMs": None,
        "requests": requests,
    }


def make_request(number: int, url: str, kind: str, start: float, rtt: float, size: int, is_new: bool) -> dict:
    """One response at 20 Mbit/s, over a new connection (TCP and TLS 1.3, two round trips) or one that is open."""
    sent = start + (2 * rtt if is_new else 0)
    first = sent + rtt + 10
    phases = {
        "dnsStartMs": start if is_new else None,
        "dnsEndMs": start if is_new else None,
        "connectStartMs": start if is_new else None,
        "secureStartMs": start + rtt if is_new else None,
        "connectEndMs": sent if is_new else None,
        "requestStartMs": sent,
        "responseStartMs": first,
    }
    return {
        "id": number,
        "url": url,
        "method": "GET",
        "type": kind,
        "status": 200,
        "protocol": "h2",
        "startMs": start,
        "endMs": first + size * 8 / 20_000,
        "phases": phases,
        "transferBytes": size + 300,
        "bodyBytes": size,
        "decodedBytes": size,
        "initiator": {
            "kind": "navigation" if number == 0 else "parser",
            "requestId": None if number == 0 else 0,
            "source": "recorded",
        },
        "renderBlocking": None,
        "fromCache": False,
        "connectionId": url.split("/")[2],
        "remoteIp": None,
        "offersH3": True,
    }


def write_recordings(folder: Path, count: int) -> Path:
    """Every third is gzipped."""
    for seed in range(count):
        below = folder / f"{seed // 1000:03}"
        below.mkdir(parents=True, exist_ok=True)
        text = json.dumps(make_recording(seed)).encode()
        if seed % 3 == 0:
            (below / f"{seed:06}.json.gz").write_bytes(gzip.compress(text))
        else:
            (below / f"{seed:06}.json").write_bytes(text)
    return folder


if __name__ == "__main__":
    write_recordings(Path(sys.argv[1]), int(sys.argv[2]))
