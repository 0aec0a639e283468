/** What happens to the network during a run. */

export interface Phase {
  /** How the browser recognises the network; a phase with the key of the one before is a change that it does not notice. */
  key: string;
  /** Name in `lab/networks.json`. */
  network: string;
}

/** At home UDP is suddenly policed, which the browser does not notice; then the person takes a train, and comes home again. */
const PHASES: readonly Phase[] = [
  { key: 'home', network: 'cable' },
  { key: 'home', network: 'udp-policed' },
  { key: 'train', network: 'lossy' },
  { key: 'home again', network: 'cable' },
];

/** The phase of each load, all of about the same length. */
export function scheduleOf(loads: number): Phase[] {
  return Array.from({ length: loads }, (_, load) => PHASES[Math.floor((load * PHASES.length) / loads)]!);
}
