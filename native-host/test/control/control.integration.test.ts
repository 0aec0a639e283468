/** The control socket: who can reach it, what it takes, what it leaves behind. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RequestError } from '../../src/base/errors.ts';
import { frame, readFrames } from '../../src/base/framing.ts';
import { askHosts } from '../../src/control/control-client.ts';
import {
  CONTROL_VERSION,
  type ControlAnswer,
  type ControlRequest,
  controlAnswer,
  MAX_REQUEST_BYTES,
} from '../../src/control/control-messages.ts';
import { ControlServer } from '../../src/control/control-server.ts';

const STATUS: ControlAnswer = { type: 'status', browser: 'chromium', pins: [], unpinned: [] };
/** No process has it: above the largest that Linux gives (`PID_MAX_LIMIT`). */
const NO_PID = 4_194_305;

let root: string;
let folder: string;
let lines: string[];
let requests: ControlRequest[];
let answer: (request: ControlRequest) => Promise<ControlAnswer>;
let server: ControlServer;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'hopwise-control-'));
  folder = join(root, 'control');
  lines = [];
  requests = [];
  answer = async () => STATUS;
  server = open();
  await server.listen();
});

afterEach(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

function open(): ControlServer {
  return new ControlServer({
    answer: (request) => {
      requests.push(request);
      return answer(request);
    },
    log: (line) => lines.push(line),
    folder,
  });
}

function path(): string {
  return join(folder, `${process.pid}.sock`);
}

/** The answer to these bytes. */
async function say(bytes: Uint8Array, ends = true): Promise<Buffer> {
  const socket = connect({ path: path(), allowHalfOpen: true });
  const chunks: Buffer[] = [];
  if (ends) socket.end(bytes);
  else socket.write(bytes);
  socket
    .on('data', (chunk) => chunks.push(chunk))
    .on('error', () => {})
    .on('end', () => socket.end());
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks);
}

async function ask(request: unknown): Promise<ControlAnswer> {
  const socket = connect(path());
  socket.write(frame(request));
  for await (const value of readFrames(socket)) return controlAnswer.parse(value);
  throw new Error('no answer');
}

it('answers, and is accessible to its user only', async () => {
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(await askHosts({ type: 'status' }, null, folder)).toEqual([{ pid: process.pid, answer: STATUS }]);
  expect(requests).toEqual([{ type: 'status', version: CONTROL_VERSION }]);
  await server.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(lines).toEqual([]);
});

it('passes on the reason of a refusal, and continues after an error', async () => {
  answer = () => Promise.reject(new RequestError('too-many', 'unpin\none first'));
  expect(await ask({ type: 'status', version: CONTROL_VERSION })).toEqual({
    type: 'error',
    code: 'too-many',
    message: 'unpin one first',
  });
  answer = () => Promise.reject(new Error('broken'));
  expect(await ask({ type: 'status', version: CONTROL_VERSION })).toMatchObject({ code: 'internal' });
  expect(lines[0]).toContain('broken');
  answer = async () => STATUS;
  expect(await ask({ type: 'status', version: CONTROL_VERSION })).toEqual(STATUS);
});

it('reports a version mismatch to the command', async () => {
  for (const version of [CONTROL_VERSION - 1, CONTROL_VERSION + 1]) {
    expect(await ask({ type: 'news', version })).toMatchObject({ type: 'error', code: 'version' });
  }
  expect(await ask({ type: 'news', version: CONTROL_VERSION })).toMatchObject({ code: 'bad-message' });
  expect(await ask({ type: 'status' })).toMatchObject({ code: 'bad-message' });
  expect(requests).toEqual([]);
});

it('answers any frame properly or not at all, and continues', async () => {
  const fields = {
    type: fc.oneof(fc.constantFrom('pin', 'unpin', 'status'), fc.string()),
    version: fc.oneof(
      { weight: 3, arbitrary: fc.constant(CONTROL_VERSION) },
      { weight: 1, arbitrary: fc.anything() },
    ),
    origin: fc.oneof(fc.constantFrom('https://a.test', 'https://a.test/'), fc.webUrl(), fc.anything()),
    kind: fc.oneof(fc.constantFrom('avoid-h3', 'h1'), fc.anything()),
    minutes: fc.oneof(fc.integer(), fc.constant(null), fc.anything()),
    persistent: fc.oneof(fc.boolean(), fc.anything()),
  };
  const value = fc.oneof(fc.record(fields, { requiredKeys: [] }), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(value, async (message) => {
      let bytes: Buffer;
      try {
        bytes = frame(message, MAX_REQUEST_BYTES);
      } catch {
        return;
      }
      const heard = await say(bytes);
      controlAnswer.parse(JSON.parse(heard.subarray(4).toString()));
    }),
    { numRuns: 300 },
  );
  expect(await ask({ type: 'status', version: CONTROL_VERSION })).toEqual(STATUS);
});

it('closes the connection without a byte on an invalid frame, and continues', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 4, maxLength: 64 }), async (bytes) => {
      expect((await say(bytes)).length).toBe(0);
    }),
    { numRuns: 200 },
  );
  const tooLong = Buffer.alloc(8);
  tooLong.writeUInt32LE(MAX_REQUEST_BYTES + 1);
  expect((await say(tooLong, false)).length).toBe(0);
  expect(await ask({ type: 'status', version: CONTROL_VERSION })).toEqual(STATUS);
});

it('limits the number of connections and their time', async () => {
  const begin = performance.now();
  // Each holds a place with a frame that never ends.
  const idlers = Promise.all(Array.from({ length: 16 }, () => say(Buffer.from([1]), false)));
  // Beyond the limit a connection is closed at once.
  expect((await say(frame({ type: 'status', version: CONTROL_VERSION }))).length).toBe(0);
  expect(requests).toEqual([]);
  expect(Buffer.concat(await idlers).length).toBe(0);
  expect(performance.now() - begin).toBeLessThan(30_000);
  expect(await ask({ type: 'status', version: CONTROL_VERSION })).toEqual(STATUS);
});

it('replaces sockets of ended processes, and no others', async () => {
  await server.close();
  const gone = join(folder, `${NO_PID}.sock`);
  writeFileSync(gone, '');
  writeFileSync(path(), '');
  writeFileSync(join(folder, 'notes.txt'), '');
  // Process 1 lives, though it listens to nothing here.
  writeFileSync(join(folder, '1.sock'), '');
  server = open();
  await server.listen();
  expect(readdirSync(folder).sort()).toEqual(['1.sock', `${process.pid}.sock`, 'notes.txt'].sort());
  expect(await askHosts({ type: 'status' }, null, folder)).toEqual([{ pid: process.pid, answer: STATUS }]);
});

it('is not created where other users could access it, and the command does not connect there', async () => {
  await server.close();
  chmodSync(folder, 0o770);
  server = open();
  await server.listen();
  expect(lines).toEqual([`no control socket: ${folder} is open to other users`]);
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(path(), '');
  await expect(askHosts({ type: 'status' }, null, folder)).rejects.toThrow('open to other users');
  rmSync(folder, { recursive: true });
  mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
  symlinkSync(join(root, 'elsewhere'), folder);
  server = open();
  await server.listen();
  expect(lines[1]).toBe(`no control socket: ${folder} is not a folder`);
});

it('is not created where its path is too long for a socket', async () => {
  await server.close();
  folder = join(root, 'x'.repeat(100));
  server = open();
  await server.listen();
  expect(lines[0]).toMatch(/longer than the 103 bytes/);
  expect(existsSync(folder)).toBe(false);
});

it('rejects invalid answers of other programs', async () => {
  const odd = createServer((socket) => socket.resume().end(frame({ type: 'status', browser: '\u001b[2J' })));
  await new Promise<void>((resolve) => odd.listen(join(folder, '1.sock'), resolve));
  const silent = createServer((socket) => socket.resume().end());
  await new Promise<void>((resolve) => silent.listen(join(folder, '2.sock'), resolve));
  expect(await askHosts({ type: 'status' }, [1, 2], folder)).toEqual([
    { pid: 1, answer: { type: 'error', code: 'bad-message', message: 'the host sent an unknown answer' } },
    { pid: 2, answer: { type: 'error', code: 'internal', message: 'it ended without an answer' } },
  ]);
  for (const other of [odd, silent]) await new Promise((resolve) => other.close(resolve));
});
