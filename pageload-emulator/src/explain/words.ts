/** Milliseconds as text, seconds from ten seconds on: `840 ms`, `12.3 s`. */
export function ms(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`;
}

/** A share of 0 to 1 as whole percent: `7%`. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** A count rounded to a whole number. Counts are means over scenarios: anything above 0 shows as at least 1. */
export function round(value: number): string {
  return String(value > 0 ? Math.max(1, Math.round(value)) : 0);
}

/** A count with its noun: `1 packet`, `3 packets`. */
export function count(value: number, noun: string): string {
  const number = round(value);
  return `${number} ${noun}${number === '1' ? '' : 's'}`;
}

/** An origin without its scheme: `a.example:8443`. */
export function withoutScheme(origin: string): string {
  return origin.replace(/^https?:\/\//, '');
}
