import type { StoredVisit } from '../product/store.ts';

/** What the loop is judged by of a visit, measured or emulated. */
export type LoopVisit = Pick<
  StoredVisit,
  'network' | 'page' | 'visit' | 'arm' | 'pltMs' | 'disturbedBy' | 'runs'
>;
