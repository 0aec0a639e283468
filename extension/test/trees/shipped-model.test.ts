/** The model that the extension is built with. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readDescription } from '../../src/trees/model-description.ts';

const TRAINED = new URL('../../../model/trained/', import.meta.url);

test('is what its description is of, and small', async () => {
  const description = readDescription(JSON.parse(await readFile(new URL('transport.json', TRAINED), 'utf8')));
  const trees = await readFile(new URL('transport.onnx', TRAINED));
  expect(createHash('sha256').update(trees).digest('hex')).toBe(description.sha256);
  expect(trees.length).toBeLessThanOrEqual(300_000);
});

test('is used where its card says so', async () => {
  const { uses } = readDescription(JSON.parse(await readFile(new URL('transport.json', TRAINED), 'utf8')));
  const card = await readFile(new URL('CARD.md', TRAINED), 'utf8');
  const usedOver = (title: string) =>
    new RegExp(`^\\| ${title} \\|.* (trees|rule) \\|$`, 'm').exec(card)?.[1];
  expect({ tcp: usedOver('TCP'), quic: usedOver('QUIC') }).toEqual(uses);
});
