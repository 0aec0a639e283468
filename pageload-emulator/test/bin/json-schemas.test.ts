/** What `--json` prints is what its JSON Schema in `docs/` describes, and the schemas allow nothing else. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PREDICTION_SCHEMA } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CHECK_SCHEMA } from '../../bin/check-command.ts';
import { chromiumHar } from '../support/hars.ts';
import { hopwise } from '../support/hopwise.ts';
import { VERIFICATION } from '../support/verification.ts';

const SAMPLE = fileURLToPath(new URL('../../../e2e/examples/playwright/pages/app.json.gz', import.meta.url));
const schemaText = (name: string) =>
  readFileSync(new URL(`../../docs/${name}.schema.json`, import.meta.url), 'utf8');
const schemaOf = (name: string) => z.fromJSONSchema(JSON.parse(schemaText(name)));
let dir = '';
const file = (name: string) => join(dir, name);

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hopwise-schemas-'));
  writeFileSync(file('page.har'), JSON.stringify(chromiumHar()));
  writeFileSync(file('probe.json'), JSON.stringify(VERIFICATION));
  writeFileSync(file('budget.json'), '{"loadTimeMs": 100, "largestPaintMs": 100}');
});
afterAll(() => rmSync(dir, { recursive: true }));

async function answerOf(...words: string[]) {
  return JSON.parse((await hopwise([...words, '--json'])).stdout);
}

describe('the JSON Schema of hopwise predict --json', () => {
  const schema = schemaOf('prediction');

  it.each([
    ['a page', ['page.har']],
    ['what cannot carry it', ['page.har', '--udp', 'blocked', '--what-if', 'iw=20', '--waterfall']],
    ['a network by name', ['page.har', '--network', 'udp-policed']],
    ['a verification', ['page.har', '--verification', 'probe.json']],
    ['a page of six origins', [SAMPLE]],
  ])('describes the answer for %s', async (_, words) => {
    const answer = await answerOf(
      'predict',
      ...words.map((word) => (/^[a-z]+\.(har|json)$/.test(word) ? file(word) : word)),
    );
    expect(schema.safeParse(answer).error?.issues ?? []).toEqual([]);
    expect(answer.schema).toBe(PREDICTION_SCHEMA);
  });

  it('allows no other entry, type or version', async () => {
    const answer = await answerOf('predict', file('page.har'));
    expect(schema.safeParse({ ...answer, more: 1 }).success).toBe(false);
    expect(schema.safeParse({ ...answer, best: 'h4' }).success).toBe(false);
    expect(schema.safeParse({ ...answer, schema: PREDICTION_SCHEMA + 1 }).success).toBe(false);
    expect(schema.safeParse({ ...answer, decision: { ...answer.decision, baseline: {} } }).success).toBe(
      false,
    );
  });
});

describe('the JSON Schema of hopwise check --json', () => {
  const schema = schemaOf('check');

  it('describes the answer with and without a baseline', async () => {
    const words = ['check', file('page.har'), '--network', 'lte', '--budget', file('budget.json')];
    const alone = await answerOf(...words);
    writeFileSync(file('last.json'), JSON.stringify(alone));
    const beside = await answerOf(...words, '--baseline', file('last.json'));
    for (const answer of [alone, beside]) expect(schema.safeParse(answer).error?.issues ?? []).toEqual([]);
    expect(beside.pages[0].change).toMatchObject({ growth: 0, verdict: 'within the noise' });
    expect(alone).toMatchObject({
      schema: CHECK_SCHEMA,
      pages: [{ unjudged: ['largestPaintMs'], change: null }],
    });
    expect(schema.safeParse({ ...alone, more: 1 }).success).toBe(false);
  });
});
