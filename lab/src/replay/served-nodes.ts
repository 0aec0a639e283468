/** Resources and bodies of a site from the plan of its requests. */
import type { ResourceType } from '@hopwise/pageload-emulator';
import { SeededRandom } from '../random.ts';
import type { Site } from '../sites/site.ts';
import type { GeneratedSite } from '../sites/write-site.ts';
import { replayBody } from './bodies.ts';
import { type PlannedRequest, type ReplayNode, redirectTarget } from './node.ts';

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

/** @param seed of the noise that pads bodies */
export function servedNodes(
  nodes: readonly ReplayNode<PlannedRequest>[],
  seed: number,
): { resources: Site['resources']; files: GeneratedSite['files'] } {
  const files = new Map<string, Uint8Array>();
  const resources = nodes.map((node): Site['resources'][number] => {
    const random = new SeededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(node.request.id + 1, 0x85ebca6b));
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
  return { resources, files };
}
