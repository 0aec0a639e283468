import type { KnownServer, MeasuredNetwork, Verification } from '@hopwise/contract';

/**
 * Bytes of an IP datagram for each response byte in it: headers of IPv4, UDP, QUIC and its frames, and the tag, in packets of 1,250
 * to 1,450 bytes.
 */
const WITH_HEADERS = 1.07;

/**
 * Rate from which the helper can separate random losses from queue drops, bits per second. At 2 Mbit/s, where one packet takes 6 ms,
 * its counts held drops in all five cells of `npm run bench -- probe`; from 10 Mbit/s on they agreed with the link's losses in 9 of 11.
 */
const MIN_SEPARABLE_BPS = 5e6;

/**
 * Converts a verification's figures to measured figures of the network. Losses over TCP include queue drops where the helper could
 * not separate them.
 */
export function measuredBy({ origins, randomLoss, udp }: Verification): MeasuredNetwork {
  const tcp = origins.flatMap((origin) => origin.tcp ?? []);
  const reached = [udp.tcpBps, udp.quicBps].flatMap((bps) => bps ?? []);
  const treatment = treatmentOf(udp);
  return {
    ...(tcp.length > 0 && {
      rttMs: Math.min(...tcp.map(({ minRttMs }) => minRttMs)),
      loss:
        randomLoss && Math.max(...reached) >= MIN_SEPARABLE_BPS
          ? { ...randomLoss, isRandom: true }
          : {
              events: tcp.reduce((sum, { lossEvents }) => sum + lossEvents, 0),
              packets: tcp.reduce((sum, { segmentsIn }) => sum + segmentsIn, 0),
            },
    }),
    ...(reached.length > 0 && { reachedBps: Math.max(...reached) }),
    ...(treatment && { udp: treatment }),
  };
}

/** What a verification showed of servers: HTTP/3 that is offered in vain is none, where the network does not block it for all. */
export function serversBy({ origins, udp }: Pick<Verification, 'origins' | 'udp'>): KnownServer[] {
  if (udp.verdict === 'blocked') return [];
  return origins
    .filter(({ speaks }) => speaks.h3 === false)
    .map(({ origin, speaks }) => ({ origin, offers: { h1: true, h2: speaks.h2 !== false, h3: false } }));
}

function treatmentOf({ verdict, answered, quicBps }: Verification['udp']): MeasuredNetwork['udp'] {
  if (verdict === 'policed' && quicBps !== null) return { kind: 'policed', bps: WITH_HEADERS * quicBps };
  if (verdict === 'open' || verdict === 'blocked') return { kind: verdict };
  return answered ? { kind: 'unblocked' } : undefined;
}
