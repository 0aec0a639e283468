import type { KnownNetwork, NetworkPath } from '@hopwise/pageload-emulator';

/** What a prediction is told of a path whose network is given: all figures that a user could know. */
export function givenNetwork({ rttMs, downBps, upBps, loss, queueBytes, udp }: NetworkPath): KnownNetwork {
  return { rttMs, downBps, upBps, loss, queueBytes, udp };
}
