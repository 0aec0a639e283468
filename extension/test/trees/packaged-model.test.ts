import { createHash } from 'node:crypto';
import { FEATURES } from '@hopwise/model';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readDescription } from '../../src/trees/model-description.ts';
import { readPackagedDescription, readPackagedTrees } from '../../src/trees/packaged-files.ts';

const BYTES = new TextEncoder().encode('trees');
const DESCRIPTION = {
  format: 1,
  features: [...FEATURES],
  sha256: createHash('sha256').update(BYTES).digest('hex'),
  uses: { tcp: 'trees', quic: 'rule' },
};
let files: Record<string, BodyInit>;

beforeEach(() => {
  files = { 'transport.onnx': BYTES, 'transport.json': JSON.stringify(DESCRIPTION) };
  vi.stubGlobal('chrome', { runtime: { getURL: (name: string) => name } });
  vi.stubGlobal('fetch', async (name: string) => {
    if (files[name] === undefined) throw new TypeError('Failed to fetch');
    return new Response(files[name]);
  });
});
afterEach(() => vi.unstubAllGlobals());

test('a model that fits is read', async () => {
  const description = await readPackagedDescription();
  expect(description).toEqual(DESCRIPTION);
  expect(await readPackagedTrees(description)).toEqual(BYTES);
});

test('a joint model has the transport as its last column', () => {
  expect(() => readDescription({ ...DESCRIPTION, features: [...FEATURES, 'protocol'] })).not.toThrow();
});

test.each([
  ['another version', { format: 2 }, 'transport.json: format: '],
  ['other features', { features: ['age'] }, 'transport.json: features: expected retransmission_rate,'],
  ['no uses', { uses: undefined }, 'transport.json: uses: '],
  ['a sum that is none', { sha256: 'x' }, 'transport.json: sha256: '],
])('a description with %s is refused in one line', (_name, change, line) => {
  const read = () => readDescription({ ...DESCRIPTION, ...change });
  expect(read).toThrow(line);
  expect(read).not.toThrow('\n');
});

test('a file that is cut off, and one that is missing, are refused in one line', async () => {
  files['transport.onnx'] = BYTES.slice(0, 3);
  await expect(readPackagedTrees(readDescription(DESCRIPTION))).rejects.toThrow(
    `transport.onnx: expected SHA-256 ${DESCRIPTION.sha256}, got `,
  );
  delete files['transport.json'];
  await expect(readPackagedDescription()).rejects.toThrow('transport.json: not in the package');
});
