import { PROTOCOLS, type Protocol } from '@hopwise/contract';

/** Lists the protocols whose times are shown as the least one: times that look alike are marked alike. */
export function listFastestShown(
  times: Readonly<Record<Protocol, number | null>>,
  format: (ms: number) => string,
): Protocol[] {
  const known = PROTOCOLS.flatMap((protocol) => times[protocol] ?? []);
  const fastest = format(Math.min(...known));
  return PROTOCOLS.filter((protocol) => {
    const ms = times[protocol];
    return ms !== null && format(ms) === fastest;
  });
}
