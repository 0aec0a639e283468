import { PROTOCOLS, parseRecording, predict } from '@hopwise/pageload-emulator';

/**
 * The load time under each protocol.
 *
 * @param har a HAR file's text
 * @throws InputError in one line when it cannot be used
 */
export function loadTimes(har: string): string[] {
  const { protocols, best, decided } = predict(parseRecording(har));
  const lines = PROTOCOLS.map((protocol) => {
    const time = protocols[protocol];
    if ('unavailable' in time) return `${protocol}: ${time.unavailable}`;
    return `${protocol}: ${Math.round(time.pltMs)} ms (${Math.round(time.low)} to ${Math.round(time.high)})`;
  });
  return [...lines, decided ? `best: ${best}` : 'no clear winner'];
}
