import type { Entry } from './schema.ts';
import { lengthOf } from './values.ts';

/** How long each of an entry's phases took, milliseconds; TLS is counted within connecting, as in HAR 1.2. */
export function phaseLengths({ timings }: Entry): number[] {
  const { blocked, dns, connect, send, wait, receive } = timings ?? {};
  return [blocked, dns, connect, send, wait, receive].map(lengthOf);
}
