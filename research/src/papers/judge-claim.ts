import type { Finding } from './claim.ts';

export type Verdict = 'reproduced' | 'refuted' | 'not comparable' | 'not run';

/** A verdict rests on the real figure alone, never on the project's models. */
export function judgeFinding(finding: Finding): Verdict {
  if (finding.kind === 'incomparable') return 'not comparable';
  if (finding.kind === 'skipped') return 'not run';
  const { value, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = finding.real;
  if (Number.isNaN(value))
    throw new RangeError('a real figure is not a number: expected a value to judge by');
  return value >= min && value <= max ? 'reproduced' : 'refuted';
}
