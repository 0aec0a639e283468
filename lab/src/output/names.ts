import { PROTOCOL_NAME } from '@hopwise/contract';
import type { LoadProtocol } from '../ground-truth/ground-truth.ts';

/** Display names, in the order of tables and charts. */
export const LOAD_PROTOCOL_NAME: Record<LoadProtocol, string> = {
  ...PROTOCOL_NAME,
  natural: 'natural',
  assigned: 'assigned',
};

export const LOAD_PROTOCOLS = Object.keys(LOAD_PROTOCOL_NAME) as LoadProtocol[];

/** Stands for a missing figure. */
export const NONE = '–';

/** `4.2%`. */
export function percent(fraction: number | null | undefined, digits = 1): string {
  return fraction === null || fraction === undefined ? NONE : `${(100 * fraction).toFixed(digits)}%`;
}
