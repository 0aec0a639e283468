import { MESSAGE_VERSION, toHost } from '@hopwise/contract';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { NativePort } from '../../src/helper/helper-port.ts';
import { PartsJoiner, verifyWithHelper } from '../../src/helper/verify-with-helper.ts';
import { english } from '../../src/language/english.ts';
import { german } from '../../src/language/german.ts';
import { useLanguage } from '../../src/language/translate.ts';
import { verificationOf } from '../support/verification.ts';

const PAGE = 'https://page.test/';
const plan = {
  pageUrl: PAGE,
  userAgent: 'test',
  transfers: [{ url: PAGE, after: [], delayMs: 0, urgency: 0, incremental: false, accept: '*/*', bytes: 10 }],
};
const probe = { plan, protocols: ['h2' as const], rounds: 1, budgetBytes: 1000 };
const verification = verificationOf({
  pageUrl: PAGE,
  engine: 'libcurl',
  startedAt: '2026-11-20T12:00:00Z',
  protocols: {
    h2: {
      unavailable: '',
      rounds: [],
      medianMs: 100,
      lowMs: 90,
      highMs: 120,
      provedRequests: 1,
      answeredRequests: 1,
    },
  },
  bytes: 10,
});

type Sent = ReturnType<typeof toHost.parse>;

/** The helper's end of a port: `answer` receives every message and may reply. */
function hostPort(
  answer: (message: Sent, send: (reply: unknown) => void, drop: (port?: object) => void) => void,
) {
  const listeners: ((message: unknown) => void)[] = [];
  const onDrop: ((port: object) => void)[] = [];
  const port = {
    open: true as boolean,
    postMessage(message: unknown) {
      const send = (reply: unknown) =>
        queueMicrotask(() => listeners.forEach((listener) => void listener(reply)));
      const drop = (ended = {}) => queueMicrotask(() => onDrop.forEach((listener) => void listener(ended)));
      answer(toHost.parse(message), send, drop);
    },
    disconnect() {
      port.open = false;
    },
    onMessage: { addListener: (listener: (message: unknown) => void) => void listeners.push(listener) },
    onDisconnect: { addListener: (listener: (port: object) => void) => void onDrop.push(listener) },
  } satisfies NativePort & { open: boolean };
  return port;
}

const hello = (id: string, more = {}) => ({
  type: 'hello',
  id,
  version: MESSAGE_VERSION,
  hostVersion: '0.1.0',
  launcher: '/usr/bin/hopwise-host',
  engine: 'libcurl/8.14.1',
  http3: true,
  problem: '',
  ...more,
});

const run = (port: ReturnType<typeof hostPort>, signal = new AbortController().signal, progress = vi.fn()) =>
  verifyWithHelper(probe, progress, signal, () => port);

beforeEach(() => vi.stubGlobal('chrome', { runtime: {} }));

describe('verifyWithHelper', () => {
  test('sends hello and the probe, passes progress on, joins the parts and closes the port', async () => {
    const text = JSON.stringify(verification);
    const port = hostPort((message, send) => {
      if (message.type === 'hello') return send(hello(message.id));
      const { id } = message;
      send({ type: 'probe-progress', id, doneTransfers: 1, allTransfers: 1, protocol: 'h2', round: 0 });
      send({ type: 'probe-result', id, part: 0, parts: 2, json: text.slice(0, 30) });
      send({ type: 'probe-result', id, part: 1, parts: 2, json: text.slice(30) });
    });
    const progress = vi.fn();
    expect(await run(port, undefined, progress)).toEqual(verification);
    expect(progress).toHaveBeenCalledWith(expect.objectContaining({ doneTransfers: 1, protocol: 'h2' }));
    expect(port.open).toBe(false);
  });

  test.each([
    ['a newer version', { version: MESSAGE_VERSION + 1 }, 'version', 'Update the extension'],
    ['an older version', { version: MESSAGE_VERSION - 1 }, 'version', 'Update the helper'],
    ['no libcurl', { engine: '', problem: 'install libcurl' }, 'no-engine', 'install libcurl'],
  ])('stops at a helper with %s', async (_name, more, code, words) => {
    const port = hostPort((message, send) => message.type === 'hello' && send(hello(message.id, more)));
    await expect(run(port)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    expect(port.open).toBe(false);
  });

  test.each([
    ['a message of no known form', { type: 'gossip' }, 'protocol'],
    ['an error', { type: 'error', id: '', code: 'busy', message: 'one at a time' }, 'busy'],
  ])('gives up on %s', async (_name, reply, code) => {
    await expect(run(hostPort((_message, send) => send(reply)))).rejects.toMatchObject({ code });
  });

  test.each([
    ['text that is not JSON', '{', 'not a JSON object'],
    ['another type', '3', 'not a JSON object'],
    ['a wrong shape', JSON.stringify({ ...verification, udp: 3 }), 'invalid value at udp'],
    ['another page', JSON.stringify({ ...verification, pageUrl: 'https://x.test/' }), 'another page'],
  ])('refuses a result of %s', async (_name, json, words) => {
    const port = hostPort((message, send) => {
      if (message.type === 'hello') send(hello(message.id));
      else send({ type: 'probe-result', id: message.id, part: 0, parts: 1, json });
    });
    await expect(run(port)).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining(words),
    });
  });

  test('explains how to install a missing helper', async () => {
    vi.stubGlobal('chrome', {
      runtime: { lastError: { message: 'Specified native messaging host not found.' } },
    });
    await expect(run(hostPort((_message, _send, drop) => drop()))).rejects.toMatchObject({
      code: 'no-helper',
      message: expect.stringContaining('“First steps” in the options'),
    });
  });

  test('gives the same message in Firefox, which reports the reason on the port', async () => {
    const error = { message: 'No such native application org.hopwise.host' };
    await expect(run(hostPort((_message, _send, drop) => drop({ error })))).rejects.toMatchObject({
      code: 'no-helper',
    });
  });

  test('a helper that stops half-way ends the verification', async () => {
    const port = hostPort((message, send, drop) =>
      message.type === 'hello' ? send(hello(message.id)) : drop(),
    );
    await expect(run(port)).rejects.toMatchObject({ code: 'engine-died' });
  });

  test('a silent helper times out', async () => {
    vi.useFakeTimers();
    const ended = expect(run(hostPort(() => {}))).rejects.toMatchObject({ code: 'timeout' });
    await vi.advanceTimersByTimeAsync(15_000);
    await ended;
    vi.useRealTimers();
  });

  test('can be cancelled', async () => {
    const abort = new AbortController();
    const port = hostPort((message, send) => message.type === 'hello' && send(hello(message.id)));
    const running = run(port, abort.signal);
    setTimeout(() => abort.abort(), 5);
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    expect(port.open).toBe(false);
  });
});

describe('in a German page', () => {
  beforeEach(() => useLanguage('de', german));
  afterEach(() => useLanguage('en', english));

  const afterHello = (reply: object) =>
    hostPort((message, send) =>
      send(message.type === 'hello' ? hello(message.id) : { ...reply, id: message.id }),
    );
  const dropping = (message: string) => hostPort((_message, _send, drop) => drop({ error: { message } }));
  const greeting = (more: object) => hostPort((message, send) => send(hello(message.id, more)));
  const result = (json: string, part = 0) => afterHello({ type: 'probe-result', part, parts: 1, json });

  test.each<[string, ReturnType<typeof hostPort>, string]>([
    [
      'is not installed',
      dropping('No such native application org.hopwise.host'),
      'Das Hilfsprogramm ist nicht installiert; Prüfungen und Festlegungen brauchen es. „Erste Schritte“ in den Einstellungen zeigt, wie es installiert wird.',
    ],
    [
      'stops',
      dropping('Native host has exited.'),
      'Das Hilfsprogramm hat sich beendet. Der Browser meldet: Native host has exited.',
    ],
    ['stops silently', dropping(''), 'Das Hilfsprogramm hat sich ohne Angabe eines Grundes beendet.'],
    [
      'is newer',
      greeting({ version: MESSAGE_VERSION + 1 }),
      'Erweiterung und Hilfsprogramm passen nicht zusammen. Bitte die Erweiterung aktualisieren.',
    ],
    [
      'is older',
      greeting({ version: MESSAGE_VERSION - 1 }),
      'Erweiterung und Hilfsprogramm passen nicht zusammen. Bitte das Hilfsprogramm aktualisieren.',
    ],
    [
      'has no libcurl',
      greeting({ engine: '' }),
      'Das Hilfsprogramm hat kein brauchbares libcurl gefunden, das es für Übertragungen benötigt.',
    ],
    [
      'refuses',
      afterHello({ type: 'error', code: 'busy', message: 'a probe is running' }),
      'Das Hilfsprogramm meldet: a probe is running',
    ],
    [
      'sends what is unknown',
      afterHello({ type: 'gossip' }),
      'Das Hilfsprogramm sendete eine Nachricht von unbekannter Form: Bitte aktualisieren oder neu installieren.',
    ],
    [
      'sends no JSON',
      result('{'),
      'Das Hilfsprogramm sendete ein Ergebnis, das kein JSON-Objekt ist: Bitte aktualisieren oder neu installieren.',
    ],
    [
      'sends what is no result',
      result(JSON.stringify({ ...verification, udp: 3 })),
      'Das Hilfsprogramm sendete ein Ergebnis mit einem ungültigen Wert bei udp: Bitte aktualisieren oder neu installieren.',
    ],
    [
      'sends the result of another page',
      result(JSON.stringify({ ...verification, pageUrl: 'https://x.test/' })),
      'Das Hilfsprogramm sendete das Ergebnis einer anderen Seite: Bitte aktualisieren oder neu installieren.',
    ],
    [
      'sends a part too many',
      result('{', 1),
      'Das Hilfsprogramm sendete Teil 1 von 1 statt Teil 0: Bitte aktualisieren oder neu installieren.',
    ],
  ])('a helper that %s is described in German', async (_what, port, message) => {
    await expect(run(port)).rejects.toMatchObject({ message });
  });

  test('a helper that is silent is described in German', async () => {
    vi.useFakeTimers();
    const ended = expect(run(hostPort(() => {}))).rejects.toMatchObject({
      message: 'Das Hilfsprogramm hat 15 s lang nicht geantwortet.',
    });
    await vi.advanceTimersByTimeAsync(15_000);
    await ended;
    vi.useRealTimers();
  });
});

describe('PartsJoiner', () => {
  test.each([
    ['out of order', [{ part: 1, parts: 2 }]],
    [
      'twice',
      [
        { part: 0, parts: 3 },
        { part: 0, parts: 3 },
      ],
    ],
    [
      'with a changing count',
      [
        { part: 0, parts: 3 },
        { part: 1, parts: 4 },
      ],
    ],
    ['too many', [{ part: 0, parts: 100_000 }]],
    ['none', [{ part: 0, parts: 0 }]],
  ])('refuses parts %s', (_name, parts) => {
    const joiner = new PartsJoiner();
    expect(() => {
      for (const part of parts) joiner.add({ ...part, json: 'x' });
    }).toThrow('update or reinstall');
  });

  test('is bounded', () => {
    const joiner = new PartsJoiner();
    const json = 'x'.repeat(40 * 1024 * 1024);
    expect(joiner.add({ part: 0, parts: 3, json })).toBeNull();
    expect(() => joiner.add({ part: 1, parts: 3, json })).toThrow('64 MiB');
  });
});
