import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Protocol } from '@hopwise/pageload-emulator';
import { removeScratch } from '../command/scratch.ts';
import { type CheckOptions, checkReplay, offeredByAll, type ReplayCheck } from '../replay/check-replay.ts';
import { replayOfFile } from '../replay/replay-of-file.ts';
import { writeSite } from '../sites/write-site.ts';
import { isPageName, openPage } from './page-source.ts';

/** Result of checking a page. */
export interface PageCheckResult {
  /** As named on the command line. */
  page: string;
  /** Requests that a replay must make; for a recording, those before the load event that the network answered. */
  requests: number;
  origins: number;
  /** Facts of the recording; null for other pages. */
  recording: {
    /** Requests left out of the replay: cached, unanswered or unreadable. */
    skipped: number;
    /** The part of a replay's load time that no network can shorten. */
    fixedMs: number;
    /** navigationStart to loadEventEnd as recorded; null without a load event. */
    pltMs: number | null;
  } | null;
  /** Protocols not tried because some origin does not offer them. */
  notOffered: Protocol[];
  loads: ReplayCheck[];
}

type PageCheckOptions = Pick<CheckOptions, 'protocols' | 'timeoutMs' | 'signal'>;

/** For sites with all their bodies, requests after the load event count too. */
const LINGER_MS = 2000;

/**
 * Loads a page once under each protocol: the structure replay of a HAR or recording, or any other page that `openPage` knows,
 * all of whose resources must be requested.
 *
 * @throws UserError for a page that cannot be replayed; when the lab or Chromium does not start; with the signal's reason.
 */
export async function checkPage(page: string, options: PageCheckOptions): Promise<PageCheckResult> {
  const isFile = !isPageName(page) && (await stat(page).catch(() => null))?.isFile() === true;
  return isFile ? checkRecording(page, options) : checkSite(page, options);
}

async function checkRecording(file: string, options: PageCheckOptions): Promise<PageCheckResult> {
  const replay = await replayOfFile(file, basename(file).replace(/\.(har|json)(\.gz)?$/, ''));
  const requests = replay.requests.filter(({ beforeLoad }) => beforeLoad);
  const dir = await mkdtemp(join(tmpdir(), 'hopwise-check-'));
  try {
    await writeSite(replay, join(dir, 'site'));
    const expected = { requests: requests.map(({ url }) => ({ url })), until: 'load' as const };
    return {
      page: file,
      requests: requests.length,
      origins: replay.site.origins.length,
      recording: {
        skipped: replay.skipped.length,
        fixedMs: replay.fixedMs,
        pltMs: replay.recordedPltMs,
      },
      notOffered: [],
      loads: await checkReplay({ ...options, dir: join(dir, 'site'), site: replay.site, expected }),
    };
  } finally {
    await removeScratch(dir);
  }
}

async function checkSite(page: string, options: PageCheckOptions): Promise<PageCheckResult> {
  const { dir, site } = await openPage(page, options.signal);
  const protocols = offeredByAll(site, options.protocols);
  return {
    page,
    requests: site.resources.length,
    origins: site.origins.length,
    recording: null,
    notOffered: options.protocols.filter((protocol) => !protocols.includes(protocol)),
    loads: await checkReplay({ ...options, protocols, dir, site, lingerMs: LINGER_MS }),
  };
}
