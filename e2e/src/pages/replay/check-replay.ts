/** Whether a structure replay makes the recorded requests again, in the lab and in Chromium. */
import { basename, join } from 'node:path';
import type { Protocol } from '@hopwise/pageload-emulator';
import { Lab } from '../../lab/lab.ts';
import type { Network } from '../../lab/networks.ts';
import { makeScratch, removeScratch } from '../../scratch.ts';
import { chromiumPath } from '../../start/chromium.ts';
import { type FailedLoad, type Load, TruthBrowser } from '../../truth/loads.ts';
import type { ReplayedSite } from '../from-har.ts';
import { replayOfFile } from '../read-recording.ts';
import { writeSite } from '../write-site.ts';

/** Nothing is lost or queued for long, so that what is missing is the replay's fault. */
const EASY_NETWORK: Network = {
  rttMs: 10,
  downMbps: 100,
  upMbps: 100,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 100 },
  udp: 'open',
};

/** Part of the requests before the load event that a replay has to make again. */
export const WANTED_SHARE = 0.98;

export interface CheckOptions {
  /** h1, h2 and h3 unless given. */
  protocols?: Protocol[];
  /** Time to the load event; two minutes unless given. */
  timeoutMs?: number;
  network?: Network;
  executablePath?: string;
  signal?: AbortSignal;
}

/** One load of a replay. Addresses are those of the replay. */
export type CheckedLoad =
  | {
      ok: true;
      /** Of the recorded requests before the load event, those that were made before the replay's. */
      again: number;
      /** `again` as a part of the recorded ones. */
      share: number;
      /** Recorded before the load event, not made before it. */
      missing: string[];
      /** Made before the load event, not recorded before it. */
      extra: string[];
      /** Made and not known to the server. */
      misses: string[];
      failed: { url: string; reason: string }[];
      proved: boolean;
      pltMs: number;
    }
  | { ok: false; reason: string };

export interface ReplayCheck {
  file: string;
  /** navigationStart to loadEventEnd as recorded; null when the load event never came. */
  recordedPltMs: number | null;
  /** What of a replay's load no network makes shorter. */
  fixedMs: number;
  /** Requests before the load event that the network answered. */
  beforeLoad: number;
  origins: number;
  /** Requests that are not made again: from the cache, not answered, unreadable. */
  skipped: number;
  loads: Partial<Record<Protocol, CheckedLoad>>;
}

/**
 * Loads the structure replay of the HAR or recording `file` once under each protocol.
 *
 * @throws UserError for a file that cannot be replayed; what keeps the lab or Chromium from starting; the signal's reason.
 */
export async function checkReplay(file: string, options: CheckOptions = {}): Promise<ReplayCheck> {
  const { protocols = ['h1', 'h2', 'h3'], timeoutMs = 120_000, network = EASY_NETWORK, signal } = options;
  const name = basename(file).replace(/\.(har|json)(\.gz)?$/, '');
  const replay = await replayOfFile(file, name);
  const check: ReplayCheck = {
    file,
    recordedPltMs: replay.recordedPltMs,
    fixedMs: replay.fixedMs,
    beforeLoad: replay.requests.filter(({ beforeLoad }) => beforeLoad).length,
    origins: replay.site.origins.length,
    skipped: replay.skipped.length,
    loads: {},
  };
  const scratch = await makeScratch('run');
  try {
    await writeSite(replay, join(scratch, 'site'));
    const lab = await Lab.up({ site: join(scratch, 'site'), network, ...(signal ? { signal } : {}) });
    try {
      const executablePath = await lab.wrapper(options.executablePath ?? chromiumPath());
      const hosts = replay.site.origins.map(({ origin }) => new URL(origin).host);
      for (const protocol of protocols) {
        signal?.throwIfAborted();
        const browser = await TruthBrowser.launch({ executablePath, protocol, caSpki: lab.caSpki, hosts });
        // Without its browser a load ends at once.
        const onAbort = () => void browser.close().catch(() => undefined);
        signal?.addEventListener('abort', onAbort, { once: true });
        try {
          const load = await browser.load(replay.site.entry, { timeoutMs, firstByteTimeoutMs: 30_000 });
          signal?.throwIfAborted();
          check.loads[protocol] = compare(replay, load, await missesOf(lab));
        } finally {
          signal?.removeEventListener('abort', onAbort);
          await browser.close();
        }
        await lab.drain();
      }
    } finally {
      await lab.down();
    }
  } finally {
    await removeScratch(scratch);
  }
  return check;
}

async function missesOf(lab: Lab): Promise<string[]> {
  const { entries } = await lab.log();
  return entries.filter(({ miss }) => miss).map(({ origin, path }) => origin + path);
}

function compare(replay: ReplayedSite, load: Load | FailedLoad, misses: string[]): CheckedLoad {
  if (!load.ok) return { ok: false, reason: load.reason };
  const made = new Set(load.requests.map(({ url }) => url));
  const recorded = replay.requests.filter(({ beforeLoad }) => beforeLoad).map(({ url }) => url);
  const expected = new Set(recorded);
  const missing = recorded.filter((url) => !made.has(url));
  const again = recorded.length - missing.length;
  return {
    ok: true,
    again,
    share: recorded.length === 0 ? 1 : again / recorded.length,
    missing,
    extra: load.requests.map(({ url }) => url).filter((url) => !expected.has(url)),
    misses,
    failed: load.failed,
    proved: load.proved,
    pltMs: load.pltMs,
  };
}
