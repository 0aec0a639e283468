"""Rows of the tables, made of the emulator's answers."""

from urllib.parse import urlsplit

import pyarrow as pa

PROTOCOLS = ("h1", "h2", "h3")

_TIMES = [(f"{protocol}Ms", pa.float64()) for protocol in PROTOCOLS]

ORIGIN = pa.struct(
    [
        ("origin", pa.string()),
        ("cdn", pa.string()),
        ("requests", pa.int64()),
        ("bytes", pa.int64()),
        ("protocol", pa.string()),
        ("decided", pa.bool_()),
        ("margin", pa.float64()),
        *_TIMES,
    ]
)
ADVICE = pa.struct(
    [
        ("kind", pa.string()),
        ("visit", pa.string()),
        ("effort", pa.int64()),
        ("gain", pa.float64()),
        ("helps", pa.float64()),
        ("harms", pa.float64()),
    ]
)
# A recording that could not be predicted has its `error`, and nulls. Times in ms, gains as fractions of the load time.
PAGES = pa.schema(
    [
        ("recording", pa.string()),
        ("error", pa.string()),
        ("url", pa.string()),
        ("requests", pa.int64()),
        ("bytes", pa.int64()),
        ("networkKind", pa.string()),
        ("rttMs", pa.float64()),
        ("downMbps", pa.float64()),
        ("loss", pa.float64()),
        ("udp", pa.string()),
        ("observedMs", pa.float64()),
        ("baselineMs", pa.float64()),
        ("best", pa.string()),
        ("confidence", pa.float64()),
        *_TIMES,
        ("decision", pa.string()),
        ("action", pa.string()),
        ("gainMs", pa.float64()),
        ("gain", pa.float64()),
        ("originRows", pa.list_(ORIGIN)),
        ("adviceRows", pa.list_(ADVICE)),
    ]
)

# The end of a host name tells its CDN, as these companies document their own host names. A CDN under a site's own name is not seen.
CDN_HOSTS = {
    "Akamai": ("akamaihd.net", "akamaized.net", "akamai.net", "edgekey.net", "edgesuite.net"),
    "Amazon CloudFront": ("cloudfront.net",),
    "Azure": ("azureedge.net", "azurefd.net"),
    "Bunny": ("b-cdn.net",),
    "Cloudflare": ("cdnjs.cloudflare.com", "cloudflare.net", "cloudflareinsights.com", "pages.dev", "r2.dev", "workers.dev"),
    "Facebook": ("fbcdn.net", "facebook.net"),
    "Fastly": ("fastly.net", "fastlylb.net"),
    "Google": (
        "doubleclick.net",
        "google-analytics.com",
        "googleapis.com",
        "googlesyndication.com",
        "googletagmanager.com",
        "googleusercontent.com",
        "gstatic.com",
        "youtube.com",
        "ytimg.com",
    ),
    "jsDelivr": ("cdn.jsdelivr.net",),
    "unpkg": ("unpkg.com",),
}

# Bounds of VTL's Table I and of the extension's network kinds (extension/src/autopilot/settings/traffic-profiles.ts).
DISTANT_RTT_MS = 50
LONG_DELAY_RTT_MS = 500
LOSSY = 0.01


def make_row(recording: str, answer: dict) -> dict:
    """One row of `PAGES`."""
    if "error" in answer:
        return {"recording": recording, "error": answer["error"]}
    prediction = answer["prediction"]
    page, network, decision = prediction["page"], prediction["network"], prediction["decision"]
    action = decision["action"]
    return {
        "recording": recording,
        "url": page["url"],
        "requests": page["requests"],
        "bytes": page["bytes"],
        "networkKind": classify_network(network),
        **{name: network[name] for name in ("rttMs", "downMbps", "loss")},
        "udp": str(network["udp"]),
        "observedMs": prediction["observed"]["pltMs"],
        "baselineMs": decision["baseline"]["pltMs"],
        "best": decision["best"],
        "confidence": decision["confidence"],
        **{f"{name}Ms": time["pltMs"] for name, time in decision["protocols"].items()},
        "decision": decision["kind"],
        "action": action["kind"],
        "gainMs": action["gainMs"],
        "gain": action["gain"],
        "originRows": [_make_origin(each) for each in prediction["origins"]],
        "adviceRows": [
            {name: each[name] for name in ("kind", "visit", "effort", "gain", "helps", "harms")}
            for each in answer.get("advice", {}).get("advice", [])
        ],
    }


def _make_origin(origin: dict) -> dict:
    return {
        **{name: origin[name] for name in ("origin", "requests", "bytes", "protocol", "decided", "margin")},
        "cdn": find_cdn(origin["origin"]),
        **{f"{name}Ms": ms for name, ms in origin["pltMs"].items()},
    }


def find_cdn(origin: str) -> str | None:
    """The CDN that an origin's host name belongs to; None where the name does not say."""
    host = urlsplit(origin).hostname or ""
    for cdn, suffixes in CDN_HOSTS.items():
        if any(host == suffix or host.endswith("." + suffix) for suffix in suffixes):
            return cdn
    return None


def classify_network(network: dict) -> str:
    """The class of a path: what distinguishes it most."""
    shares = network["udpShares"]
    if shares["open"] < shares["policed"] + shares["blocked"]:
        return "udp-hindered"
    if network["rttMs"] >= LONG_DELAY_RTT_MS:
        return "long-delay"
    if network["loss"] >= LOSSY:
        return "lossy"
    return "distant" if network["rttMs"] >= DISTANT_RTT_MS else "near"
