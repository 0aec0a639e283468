import { type Assignment, emulate, parseRecording, readPage } from '@hopwise/pageload-emulator';

/** Load times over 20 seeds of random loss, milliseconds in ascending order: one network, one assignment, no choosing. */
export function overLosses(har: string, assignment: Assignment): number[] {
  const { graph, network } = readPage(parseRecording(har));
  const { path, servers } = network;
  const lossy = { ...path, loss: 0.01, lossBurst: 3 };
  const times = Array.from({ length: 20 }, (_, seed) => {
    return emulate(graph, lossy, servers, assignment, { seed }).pltMs;
  });
  return times.sort((a, b) => a - b);
}
