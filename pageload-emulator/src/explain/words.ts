import type { Protocol } from '@hopwise/contract';

export const NAME: Record<Protocol, string> = { h1: 'HTTP/1.1', h2: 'HTTP/2', h3: 'HTTP/3' };

export function ms(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** Counts are means over scenarios; what happened at all, happened once. */
export function round(value: number): string {
  return String(value > 0 ? Math.max(1, Math.round(value)) : 0);
}

export function count(value: number, noun: string): string {
  const number = round(value);
  return `${number} ${noun}${number === '1' ? '' : 's'}`;
}

/** Without its scheme, as people say it. */
export function hostOf(origin: string): string {
  return origin.replace(/^https?:\/\//, '');
}
