import { expect, it } from 'vitest';
import { showComparison, showPrediction } from '../../bin/show.ts';
import type { Action, Prediction } from '../../src/index.ts';
import { parseRecording, predict } from '../../src/index.ts';
import { chromiumHar } from '../support/hars.ts';

const prediction = predict(parseRecording(JSON.stringify(chromiumHar())));
const [{ origin }] = prediction.origins as [Prediction['origins'][number]];
const rowOf = (decision: Partial<Prediction['decision']>) =>
  showPrediction({ ...prediction, decision: { ...prediction.decision, ...decision } }, 0, { all: true })
    .split('\n')
    .find((line) => line.startsWith(`${origin} `))
    ?.split(/ {2,}/);

it('lists the protocol that the recommended action gives an origin, not the one that it would have alone', () => {
  const assignment = { [origin]: 'h1' as const };
  const action: Action = { ...prediction.decision.action, origins: [origin], assignment, helps: 0.95 };
  expect(rowOf({ kind: 'act', action })?.slice(-3)).toEqual(['h1', '95%', 'see what to do, above']);
  expect(rowOf({ kind: 'unsure', action })?.at(-1)).toBe(prediction.origins[0]!.reason);
});

it('says which visits a change is against, where there are two', () => {
  const show = (baseline: Partial<Prediction['decision']['baseline']>) =>
    showPrediction(
      {
        ...prediction,
        decision: { ...prediction.decision, baseline: { ...prediction.decision.baseline, ...baseline } },
      },
      0,
    );
  const words = '\nchange: against the faster of both visits\n';
  expect(show({ visit: 'first', measured: false })).toContain(words);
  expect(show({ visit: 'later', measured: false })).not.toContain(words);
  // Measured loads are of the visits that count.
  expect(show({ visit: 'first', measured: true })).not.toContain(words);
});

it('gives no sign to a change that rounds to none', () => {
  const changeAt = (gain: number) => {
    const action: Action = { ...prediction.decision.action, kind: 'offer-h3', gain };
    const decision = { ...prediction.decision, actions: [action] };
    return / ([+−]?[\d.]+%) /.exec(
      showPrediction({ ...prediction, decision }, 0)
        .split('\n')
        .find((line) => line.startsWith('offer h3'))!,
    )?.[1];
  };
  expect([-0.0004, 0.0004, -0.0006, 0.0006].map(changeAt)).toEqual(['0.0%', '0.0%', '+0.1%', '−0.1%']);
});

it('gives the queue in the unit of --queue', () => {
  const network = { ...prediction.network, queueBytes: 300_000, downMbps: 12 };
  // 300 kB · 8 / 12 Mbit/s = 200 ms
  expect(showPrediction({ ...prediction, network }, 0)).toMatch(/^queue +200 ms /m);
});

it('does not cut the usual length of a verdict in the table of many pages', () => {
  const verdict =
    'Nothing worth changing here. If you run www.shop.example: later visits with HTTP/3 there 380 ms → about 330 ms';
  const row = { ...prediction, decision: { ...prediction.decision, verdict } };
  expect(showComparison([{ name: 'page.har', prediction: row }])).toContain(verdict);
});
