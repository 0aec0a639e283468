/** Seeds randomness and clock, so that a page's scripts make the same URLs in every load, and refuses service workers. */
import type { Site } from '../sites/site.ts';

/** Load option for a site: the script that seeds its randomness and clock, if the site asks for that. */
export function siteInitScript({ determinism }: Pick<Site, 'determinism'>): { initScript?: string } {
  return determinism ? { initScript: determinismScript(determinism.seed, determinism.epochMs) } : {};
}

/**
 * A script for `addInitScript`, created right before the load: in every document `Math.random` and `crypto` draw from `seed`,
 * `Date` starts at `epochMs` and runs at its usual speed, and service workers are refused, as recordings have none.
 * `performance` is unchanged, and workers are not affected.
 */
export function determinismScript(seed: number, epochMs: number, nowMs = Date.now()): string {
  return `(${install})(${seed >>> 0},${Math.round(epochMs - nowMs)});`;
}

/** Runs in the page. */
function install(seed: number, clockOffsetMs: number): void {
  // Each frame gets a seed of its own, so that random names do not collide. FNV-1a.
  let state = seed;
  let place = 0;
  while (place < parent.length && parent[place] !== window) place++;
  for (const letter of location.origin + location.pathname + location.search + place) {
    state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  }
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  Math.random = () => next() / 2 ** 32;
  Crypto.prototype.getRandomValues = <T extends ArrayBufferView | null>(array: T): T => {
    if (array === null) return array;
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next() & 0xff;
    return array;
  };
  Crypto.prototype.randomUUID = () => {
    const hex = Array.from({ length: 32 }, () => (next() & 15).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const RealDate = Date;
  const realNow = Date.now.bind(Date);
  RealDate.now = () => realNow() + clockOffsetMs;
  const SteadyDate = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget),
    apply: (target) => new target(target.now()).toString(),
  });
  RealDate.prototype.constructor = SteadyDate;
  globalThis.Date = SteadyDate;
  // Absent in insecure contexts.
  if (typeof ServiceWorkerContainer === 'undefined') return;
  ServiceWorkerContainer.prototype.register = () =>
    Promise.reject(new DOMException('The page is replayed without service workers.', 'SecurityError'));
}
