import { parseRecording, predict } from '@hopwise/pageload-emulator';

/** The same page on a train: what is not given is taken from the recording. */
export function onTheTrain(har: string) {
  return predict(parseRecording(har), {
    network: { rttMs: 120, downBps: 4e6, upBps: 1e6, loss: 0.02, udp: { kind: 'blocked' } },
  });
}

/** What servers would gain that send 32 packets at once and use BBR: a fraction of the load time for each protocol. */
export function withLargerWindows(har: string): Record<string, number> {
  const { whatIf } = predict(parseRecording(har), {
    whatIf: { initialWindow: 32, congestionControl: 'bbr' },
  });
  const changes: Record<string, number> = {};
  for (const [protocol, time] of Object.entries(whatIf?.protocols ?? {})) {
    if ('change' in time) changes[protocol] = time.change;
  }
  return changes;
}
