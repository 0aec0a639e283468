import type { Recording } from '@hopwise/pageload-emulator';
import { siteOf } from '../sites/site.ts';
import type { GeneratedSite } from '../sites/write-site.ts';
import { fixedTime } from './fixed-time.ts';
import { planReplay, type SkippedRequest } from './plan.ts';
import { servedNodes } from './served-nodes.ts';

interface ReplayOptions {
  /** Name of the site. */
  name: string;
  /** Seed of the noise that pads bodies; 1 unless given. */
  seed?: number;
  maxRequests?: number;
  maxOrigins?: number;
}

/** A site with the structure of a recorded page, and facts of the recording. */
export interface ReplayedSite extends GeneratedSite {
  /** The recorded requests that are made again, with their URL in the replay. */
  requests: { id: number; recordedUrl: string; url: string; beforeLoad: boolean }[];
  skipped: SkippedRequest[];
  /** navigationStart to loadEventEnd; null without a load event. */
  recordedPltMs: number | null;
  /** Work, waits and server times on the critical path to the load event, independent of the network. */
  fixedMs: number;
}

/**
 * Structure replay: the recorded origins, sizes, types, order, initiators, server times and script gaps, with
 * bodies of filler. All origins are `https` on hosts in `.test` and offer every protocol.
 *
 * Not kept: cached and unanswered requests, request bodies and cookies, statuses other than redirects, methods other than GET
 * and POST, and most of a wait beyond a second (see `schedule`). A recording does not show what may be cached: everything may
 * be, for an hour, so a repeat view requests nothing.
 *
 * @throws {RangeError} in one line, when nothing can be replayed or a limit is exceeded.
 */
export function siteFromRecording(recording: Recording, options: ReplayOptions): ReplayedSite {
  const { name, seed = 1, maxRequests = 3000, maxOrigins = 400 } = options;
  const plan = planReplay(recording, { maxRequests, maxOrigins });
  const { resources, files } = servedNodes(plan.nodes, seed);
  return {
    site: siteOf({ name, entry: plan.entry.url, origins: plan.origins }, resources),
    files,
    requests: plan.nodes.map(({ request, url, afterLoad }) => ({
      id: request.id,
      recordedUrl: request.url,
      url,
      beforeLoad: !afterLoad,
    })),
    skipped: plan.skipped,
    recordedPltMs: recording.pltMs,
    fixedMs: Math.round(fixedTime(plan.nodes)),
  };
}
