import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPinnable } from '../../../src/pins/pinnable-origin.ts';
import { createPacScript } from '../../../src/pins/worker/pac.ts';

/** Answers of a PAC script, run as in browsers: with the bare language only. */
function asked(script: string, ...urls: string[]): string[] {
  const context = createContext({});
  runInContext(script, context);
  return urls.map((url) =>
    String(
      runInContext(
        `FindProxyForURL(${JSON.stringify(url)}, ${JSON.stringify(new URL(url).hostname)})`,
        context,
      ),
    ),
  );
}

const PROXY = 'PROXY 127.0.0.1:4321; DIRECT';

describe('createPacScript', () => {
  const script = createPacScript(
    {
      port: 4321,
      origins: ['https://a.example', 'https://b.example:8443', 'https://[::1]:444'],
      trials: ['https://a.example:49151'],
    },
    1,
  );

  test.each([
    'https://a.example/',
    'https://a.example/path?https://other.example/',
    'https://b.example:8443/',
    'https://[::1]:444/',
  ])('sends %s through the proxy, or directly when that does not answer', (url) => {
    expect(asked(script, url)).toEqual([PROXY]);
  });

  test.each([
    'http://a.example/',
    'ws://a.example/',
    'wss://a.example/',
    'ftp://a.example/',
    'https://a.example:8443/',
    'https://b.example/',
    'https://sub.a.example/',
    'https://a.example.evil.test/',
    'https://evil.test/https://a.example/',
    'https://evil.test/?https://a.example',
    'https://a.example@evil.test/',
    'https://__proto__/',
    'https://constructor/',
  ])('sends %s directly', (url) => {
    expect(asked(script, url)).toEqual(['DIRECT']);
  });

  test('sends a trial through the proxy only', () => {
    expect(asked(script, 'https://a.example:49151/')).toEqual(['PROXY 127.0.0.1:4321']);
  });

  describe('with every origin pinned', () => {
    const everyOrigin = {
      ports: [5001, 5002, 5003, 5004],
      exceptions: ['https://intranet.example:8443', 'https://münchen.example'],
      leftSites: ['left.example', 'https://spared.example', 'https://other.example:8443'],
    };
    const whole = createPacScript(
      { port: 4321, origins: ['https://a.example'], trials: ['https://a.example:49151'], everyOrigin },
      1,
    );
    const ports = (urls: string[]) =>
      asked(whole, ...urls).map(
        (answer) => /^PROXY 127\.0\.0\.1:(500\d); DIRECT$/.exec(answer)?.[1] ?? answer,
      );

    test.each([
      'https://c.example/',
      'https://c.example:8443/path',
      'https://intranet.example/',
      'https://notleft.example/',
      'https://www.spared.example/',
      'https://spared.example:8443/',
      'https://other.example/',
      'https://xn--bcher-kva.example/?https://a.example/',
      'https://a.b.c.example./',
    ])('sends %s through one of its ports', (url) => {
      expect(ports([url])[0]).toMatch(/^500[1-4]$/);
    });

    test('spreads hosts over the ports, each always to the same', () => {
      const hosts = Array.from({ length: 40 }, (_, at) => `https://cdn${at}.example`);
      const chosen = ports(hosts.map((host) => `${host}/`));
      expect(new Set(chosen).size).toBe(4);
      expect(ports(hosts.map((host) => `${host}:444/x`))).toEqual(chosen);
    });

    test.each([
      'http://c.example/',
      'wss://c.example/',
      'ftp://c.example/',
      'https://intranet/',
      'https://localhost/',
      'https://a.localhost/',
      'https://printer.local/',
      'https://printer.local./',
      'https://10.0.0.1/',
      'https://93.184.216.34/',
      'https://[fd00::1]/',
      'https://intranet.example:8443/',
      'https://left.example/',
      'https://www.left.example/',
      'https://spared.example/',
      'https://other.example:8443/path',
    ])('sends %s directly', (url) => {
      expect(ports([url])).toEqual(['DIRECT']);
    });

    test('leaves pinned origins and trials where they are', () => {
      expect(asked(whole, 'https://a.example/', 'https://a.example:49151/')).toEqual([
        PROXY,
        'PROXY 127.0.0.1:4321',
      ]);
    });

    test('has no character that Chromium rejects, and takes no port that is none', () => {
      expect(whole).toMatch(/^[\t\n\x20-\x7e]*$/);
      expect(() =>
        createPacScript({ port: 1, origins: [], trials: [], everyOrigin: { ...everyOrigin, ports: [0] } }, 1),
      ).toThrow(RangeError);
    });
  });

  test('changes with its serial alone', () => {
    const pinned = { port: 1, origins: ['https://a.example'], trials: [] };
    expect(createPacScript(pinned, 1)).not.toBe(createPacScript(pinned, 2));
  });

  test.each([
    'https://a.example"]; evil(); ["',
    "https://a.example'",
    'https://a.example\\',
    'https://a.example\n',
    'https://a.example\u2028',
    'https://a.example/',
    'https://A.example',
    'https://a.example:443',
    'https://user@a.example',
    'https://münchen.example',
    'http://a.example',
    `https://${'a'.repeat(300)}`,
    'https://*',
    '',
  ])('rejects %j', (origin) => {
    expect(isPinnable(origin)).toBe(false);
    expect(() => createPacScript({ port: 4321, origins: [origin], trials: [] }, 1)).toThrow(RangeError);
    expect(() => createPacScript({ port: 4321, origins: [], trials: [origin] }, 1)).toThrow(RangeError);
  });

  test('a text of several lines in one line', () => {
    const origins = ['https://a.test\nb'];
    expect(() => createPacScript({ port: 4321, origins, trials: [] }, 1)).toThrow(
      '"https://a.test\\nb" is not an https origin',
    );
  });

  test.each([0, -1, 1.5, 65_536, Number.NaN, '1; evil()' as unknown as number])(
    'takes no port %s',
    (port) => {
      expect(() => createPacScript({ port, origins: ['https://a.example'], trials: [] }, 1)).toThrow(
        RangeError,
      );
    },
  );

  test('contains no code from origins, for any origins', () => {
    const nasty = fc.string({ unit: 'binary', maxLength: 40 });
    const host = fc.oneof(nasty, fc.webAuthority({ withPort: true }), fc.domain());
    fc.assert(
      fc.property(
        fc.array(
          host.map((text) => `https://${text}`),
          { maxLength: 5 },
        ),
        (origins) => {
          const good = origins.filter(isPinnable);
          if (good.length < origins.length)
            expect(() => createPacScript({ port: 9, origins, trials: [] }, 1)).toThrow(RangeError);
          const script = createPacScript({ port: 9, origins: good, trials: [] }, 1);
          // Chromium accepts ASCII only.
          expect(script).toMatch(/^[\x20-\x7e\n]*$/);
          expect(asked(script, 'https://not.pinned.invalid./')).toEqual(['DIRECT']);
          for (const origin of good)
            expect(asked(script, `${origin}/`)).toEqual(['PROXY 127.0.0.1:9; DIRECT']);
        },
      ),
      { numRuns: 40 },
    );
  });
});
