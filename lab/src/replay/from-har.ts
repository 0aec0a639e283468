import type { Recording } from '@hopwise/pageload-emulator';
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
  /** Of the noise that bodies are padded with; 1 unless given. */
  seed?: number;
  maxRequests?: number;
  maxOrigins?: number;
}

/** A site that has the structure of a recorded page, and what of the recording it has. */
export interface ReplayedSite extends GeneratedSite {
  /** The recorded requests that are made again, `url` being their address in the replay. */
  requests: { id: number; recordedUrl: string; url: string; beforeLoad: boolean }[];
  skipped: SkippedRequest[];
  /** navigationStart to loadEventEnd; null when the load event never came. */
  recordedPltMs: number | null;
  /** What work, waits and servers take on the longest way to the load event, whatever the network. */
  fixedMs: number;
}

/**
 * Structure replay: the recorded origins, sizes, types, order, initiators, server times and script gaps, with
 * bodies of filler. All origins are `https` on hosts in `.test` and offer every protocol.
 *
 * Not kept: what the cache answered or nobody answered, request bodies and cookies, statuses but redirects', methods but
 * GET and POST, most of those waits that are longer than a second (see `schedule`), and what may be cached, of which a
 * recording says nothing: all may be, for an hour, so a repeat view asks for nothing.
 *
 * @throws {RangeError} in one line, when nothing can be replayed or there is more than the limits allow.
 */
export function siteFromRecording(recording: Recording, options: ReplayOptions): ReplayedSite {
  const { name, seed = 1, maxRequests = 3000, maxOrigins = 400 } = options;
  const plan = planReplay(recording, { maxRequests, maxOrigins });
  const files = new Map<string, Uint8Array>();
  const resources = plan.nodes.map((node): Site['resources'][number] => {
    const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(node.request.id + 1, 0x85ebca6b));
    const target = redirectTarget(node);
    const fileName = `bodies/${new URL(node.origin).host}${node.path.split('?')[0]}`;
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
