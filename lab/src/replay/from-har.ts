import type { Recording, ResourceType } from '@hopwise/pageload-emulator';
import { Random } from '../random.ts';
import type { Site } from '../sites/site.ts';
import type { GeneratedSite } from '../sites/write-site.ts';
import { replayBody } from './bodies.ts';
import { fixedTime } from './fixed-time.ts';
import { redirectTarget } from './node.ts';
import { planReplay, type SkippedRequest } from './plan.ts';

export interface ReplayOptions {
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

const EXTENSION: Record<ResourceType, string> = {
  document: 'html',
  iframe: 'html',
  style: 'css',
  script: 'js',
  font: 'woff2',
  image: 'png',
  media: 'bin',
  fetch: 'bin',
  beacon: 'bin',
  other: 'bin',
};

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
  const files = new Map<string, Uint8Array>();
  const resources = plan.nodes.map((node): Site['resources'][number] => {
    const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(node.request.id + 1, 0x85ebca6b));
    const target = redirectTarget(node);
    // Not by path: one may be another's folder.
    const fileName = `bodies/${new URL(node.origin).host}/${node.request.id}.${EXTENSION[node.type]}`;
    const { body, file, contentType, encoding } = replayBody(node, fileName, random);
    if (file !== undefined) files.set(fileName, file);
    return {
      origin: node.origin,
      ...(node.method === 'POST' ? { method: 'POST' } : {}),
      path: node.path,
      status: target === null ? 200 : node.request.status,
      headers: {
        'content-type': contentType,
        ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
        'cache-control': 'public, max-age=3600',
        'access-control-allow-origin': '*',
        'timing-allow-origin': '*',
        ...(target === null ? {} : { location: target.url }),
      },
      body,
      thinkMs: node.thinkMs,
    };
  });
  return {
    site: {
      format: 'hopwise-site',
      version: 1,
      name,
      entry: plan.entry.url,
      origins: plan.origins.map(({ origin, extraRttMs }) => ({
        origin,
        protocols: ['h1', 'h2', 'h3'],
        extraRttMs,
      })),
      resources,
    },
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
