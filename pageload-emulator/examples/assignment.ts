import { parseRecording, predict } from '@hopwise/pageload-emulator';

/** The best protocol of each origin, all together, of those that it offers; and what the page gains. */
export function bestAssignment(har: string): string[] {
  const { origins, assigned } = predict(parseRecording(har));
  const lines = origins.map(({ origin, protocol, confidence, reason }) => {
    return `${origin}: ${protocol}, ${Math.round(confidence * 100)}% sure. ${reason}`;
  });
  return [...lines, `${Math.round(assigned.pltMs)} ms: ${assigned.reason}`];
}
