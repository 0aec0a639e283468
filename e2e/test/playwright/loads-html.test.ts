import { describe, expect, it } from 'vitest';
import { describeDisturbance } from '../../src/playwright/load.ts';
import { renderLoads } from '../../src/playwright/loads-html.ts';
import { expect as own } from '../../src/playwright/matchers.ts';
import { RECORDING, loadOf as replayLoadOf } from '../support/replay-loads.ts';

const loadOf = (changes: object = {}) =>
  replayLoadOf({ protocol: 'h2', requests: RECORDING.requests, ...changes });

describe('the report of a failed test', () => {
  it('has the loads, what is predicted, and a bar for each request', () => {
    const html = renderLoads([loadOf()], 'the checkout loads in time');
    expect(html).toContain('<h1>the checkout loads in time</h1>');
    expect(html).toContain(
      '<td>app, cable, h2</td><td class="n">2400 ms</td><td class="n">600 ms</td><td class="n">–</td>',
    );
    expect(html).toMatch(/<td>HTTP\/3<\/td><td class="n">\d+ ms<\/td><td class="n">\d+ ms to \d+ ms<\/td>/);
    expect(html.match(/<g>/g)).toHaveLength(RECORDING.requests.length);
    expect(html).not.toContain('disturbed');
    expect(html).not.toMatch(/NaN|undefined|<script|https?:\/\/[^ <]*"/);
  });

  it('shows no text of a page as markup', () => {
    const url = 'https://app.test/<script>alert(1)</script>';
    const requests = RECORDING.requests.map((request, index) =>
      index === 1 ? { ...request, url } : request,
    );
    const html = renderLoads([loadOf({ recording: { ...RECORDING, requests } })], '<b>title</b>');
    expect(html).not.toMatch(/<script|<b>/);
    expect(html).toContain('&#60;script&#62;');
  });
});

describe('a disturbed load', () => {
  const disturbed = loadOf({ disturbedBy: ['late packets'] });

  it('is named with the option that skips it', () => {
    expect(describeDisturbance([loadOf()])).toBe('');
    expect(describeDisturbance([disturbed])).toBe(
      "It was a disturbed load (late packets): replay.disturbed: 'skip' skips the test then.",
    );
    expect(describeDisturbance([loadOf(), disturbed, disturbed])).toContain(
      '2 of them were disturbed loads (late packets)',
    );
  });

  it('is named by the assertion that fails', () => {
    const failed = (check: () => void) => {
      try {
        check();
      } catch (error) {
        return (error as Error).message;
      }
      return 'did not fail';
    };
    const message = failed(() => own(disturbed).toLoadWithin(1000));
    expect(message).toContain(
      'loaded in 2400 ms, expected at most 1000 ms\nIt was a disturbed load (late packets)',
    );
    expect(failed(() => own([loadOf(), disturbed]).toMeetBudget({ loadTimeMs: 1 }))).toContain(
      '1 of them were',
    );
    expect(failed(() => own(loadOf()).toLoadWithin(1000))).not.toContain('disturbed');
  });
});
