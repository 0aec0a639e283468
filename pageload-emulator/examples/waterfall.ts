import { type Protocol, parseRecording, predict } from '@hopwise/pageload-emulator';

/** What each request goes through under one protocol, in the load that is in the middle of those predicted. */
export function waterfall(har: string, protocol: Protocol): string[] {
  const recording = parseRecording(har);
  const { waterfall } = predict(recording, { waterfall: true });
  return (waterfall[protocol] ?? []).map(({ requestId, startMs, sentMs, firstByteMs, endMs }) => {
    const times = [startMs, sentMs, firstByteMs, endMs].map((ms) => Math.round(ms));
    return `${times.join(' ')} ${recording.requests[requestId]!.url}`;
  });
}
