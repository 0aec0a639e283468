import { describe, expect, it } from 'vitest';
import { assignmentReason } from '../../src/explain/assignment-reason.ts';
import { SENTENCES } from '../../src/explain/sentences/languages.ts';

/** The sentence on a mix that takes so long, beside HTTP/3 for every origin, which takes a second. */
const reasonOf = (pltMs: number, decided: boolean, language: 'en' | 'de' = 'en') =>
  assignmentReason(
    {
      assignment: {},
      assigned: { pltMs, low: pltMs, high: pltMs, margin: 1 - pltMs / 1000, confidence: 0.7, decided },
      uniform: { protocol: 'h3', pltMs: 1000 },
      moved: 2,
    },
    6,
    SENTENCES[language],
  );

describe('the sentence on a mix of protocols', () => {
  const lead = 'With other protocols for 2 of 6 origins the page';

  it('calls a small gain too little', () => {
    expect(reasonOf(970, false)).toBe(
      `${lead} might load 30 ms (3%) sooner than with HTTP/3 for every origin that offers it: too little to act on.`,
    );
  });

  it('calls a large gain that is not sure by that, not by its size', () => {
    expect(reasonOf(790, false)).toBe(
      `${lead} might load 210 ms (21%) sooner than with HTTP/3 for every origin that offers it, which is not sure.`,
    );
    expect(reasonOf(790, false, 'de')).toMatch(/ anbietet, sicher ist das nicht\.$/);
  });

  it('states a sure gain', () => {
    expect(reasonOf(790, true)).toMatch(
      /^With other .* the page loads 210 ms \(21%\) sooner .* offers it\.$/,
    );
    expect(reasonOf(1010, false)).toBe('Mixing protocols would not help.');
  });
});
