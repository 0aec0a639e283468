import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verificationSchema } from '@hopwise/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { COMMAND } from '../support/command.ts';
import { serveProgram } from '../support/serve-program.ts';

const BIN = fileURLToPath(new URL('../../bin/hopwise-host.ts', import.meta.url));
/** The libcurl is searched anew, in all places; otherwise the one is used that the run's set-up has found. */
const SEARCH = { HOPWISE_LIBCURL: '' };
const DATA = process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share');

const served = serveProgram();
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hopwise-cli-'));
  // A home of its own that shares the real private libcurl.
  mkdirSync(join(home, 'data', 'hopwise'), { recursive: true });
  symlinkSync(join(DATA, 'hopwise', 'libcurl'), join(home, 'data', 'hopwise', 'libcurl'));
});

afterEach(() => rmSync(home, { recursive: true }));

function run(args: string[], env: NodeJS.ProcessEnv = {}): { code: number | null; out: string; err: string } {
  const result = spawnSync(process.execPath, ['--conditions=source', BIN, ...args], {
    encoding: 'utf8',
    env: {
      ...process.env,
      HOME: home,
      XDG_CONFIG_HOME: '',
      XDG_DATA_HOME: join(home, 'data'),
      XDG_STATE_HOME: join(home, 'state'),
      HOPWISE_CA_FILE: served.server.caFile,
      ...env,
    },
  });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

interface DoctorReport {
  ok: boolean;
  checks: { name: string; ok: boolean; detail: string; fix: string }[];
}

it.each(['install', 'uninstall'])('%s with an empty profile folder changes nothing', (command) => {
  expect(run([command, '--user-data-dir', ''])).toEqual({
    code: 2,
    out: '',
    err:
      'hopwise-host: --user-data-dir: expected the path of a folder, got "" ' +
      `(see ${COMMAND} ${command} --help)\n`,
  });
  expect(readdirSync(home)).toEqual(['data']);
});

it('doctor fails with a fix before install and passes after it', () => {
  mkdirSync(join(home, '.config', 'chromium'), { recursive: true });
  const before = run(['doctor', '--offline', '--json'], SEARCH);
  expect(before.code).toBe(1);
  const report = JSON.parse(before.out) as DoctorReport;
  expect(report.ok).toBe(false);
  expect(report.checks.filter((check) => !check.ok)).toEqual([
    { name: 'Chromium', ok: false, detail: 'not registered', fix: `run: ${COMMAND} install` },
  ]);
  // Debian's libcurl may have become old since: that is a check of its own.
  expect(report.checks.map(({ name }) => name).filter((name) => name !== 'libcurl age')).toEqual([
    'Node',
    'koffi',
    'libcurl',
    'HTTP/3',
    'CA bundle',
    'Chromium',
    'Local CA',
    'Pins',
    'Log',
  ]);
  expect(run(['install']).code).toBe(0);
  const after = run(['doctor', '--offline']);
  expect(after.out).not.toContain('FAIL');
  expect(after.code).toBe(0);
});

it('doctor names the fix for an engine that does not start', () => {
  const { code, out } = run(['doctor', '--offline', '--json'], { HOPWISE_LIBCURL: '/etc/passwd' });
  expect(code).toBe(1);
  const engine = (JSON.parse(out) as DoctorReport).checks.find(({ name }) => name === 'libcurl')!;
  expect(engine.ok).toBe(false);
  expect(engine.detail).toContain('/etc/passwd');
  expect(engine.fix).not.toBe('');
});

it('doctor finds an empty CA bundle', () => {
  const path = join(home, 'empty.pem');
  writeFileSync(path, '');
  const { out } = run(['doctor', '--offline', '--json'], { HOPWISE_CA_FILE: path });
  const check = (JSON.parse(out) as DoctorReport).checks.find(({ name }) => name === 'CA bundle')!;
  expect(check).toMatchObject({ ok: false, detail: `${path} holds no certificate` });
});

it('setup --check changes nothing', () => {
  rmSync(join(home, 'data'), { recursive: true });
  // A browser that started the helper before left its state.
  const before = readdirSync(home, { recursive: true });
  const { code, out } = run(['setup', '--check', '--offline', '--json'], SEARCH);
  const result = JSON.parse(out) as { state: string; http3: boolean; fix: string };
  expect(['present', 'missing', 'unsupported']).toContain(result.state);
  expect(result.http3).toBe(result.state === 'present');
  expect(result.fix === '').toBe(result.http3);
  expect(code).toBe(result.http3 ? 0 : 1);
  expect(readdirSync(home, { recursive: true })).toEqual(before);
});

it('setup does nothing where there is an HTTP/3 libcurl', () => {
  const { code, out, err } = run(['setup', '--offline', '--json'], SEARCH);
  expect(JSON.parse(out)).toMatchObject({ state: 'present', http3: true, fix: '' });
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

it('status shows the engine and the registration', () => {
  run(['install', '--browser', 'firefox']);
  const { code, out } = run(['status', '--json', '--browser', 'firefox']);
  expect(code).toBe(0);
  const status = JSON.parse(out) as { engine: string; problem: string; registered: unknown };
  expect(status.engine).toMatch(/^libcurl\/\d/);
  expect(status.problem).toBe('');
  expect(status.registered).toEqual([{ browser: 'Firefox', problem: '' }]);
});

it('status looks for a libcurl once, and remembers it', () => {
  const libcurl = () => (JSON.parse(run(['status', '--json'], SEARCH).out) as { libcurl: string }).libcurl;
  const path = libcurl();
  const file = join(home, 'state', 'hopwise', 'libcurl.json');
  const remembered = readFileSync(file, 'utf8');
  expect(JSON.parse(remembered)).toMatchObject({ path });
  expect(libcurl()).toBe(path);
});

it('uninstall --all leaves nothing', () => {
  rmSync(join(home, 'data'), { recursive: true });
  run(['install']);
  run(['status']);
  expect(run(['uninstall', '--all', '--json']).code).toBe(0);
  const left = readdirSync(home, { recursive: true });
  expect(left.filter((name) => name !== '.config' && name !== 'data' && name !== 'state')).toEqual([]);
});

it('probe prints a verification', () => {
  const { code, out } = run([
    'probe',
    served.server.url('/bytes/10'),
    served.server.url('/bytes/20'),
    '--rounds',
    '1',
    '--json',
  ]);
  expect(code).toBe(0);
  const verification = verificationSchema.parse(JSON.parse(out));
  expect(verification.protocols.h3).toMatchObject({ provedRequests: 2, answeredRequests: 2 });
});

it('probe prints a table', () => {
  const url = served.server.url('/bytes/10');
  const { code, out } = run(['probe', url, '--rounds', '1', '--protocols', 'h2,h3', '--resources']);
  expect(code).toBe(0);
  expect(out).toMatch(/^HTTP\/2 +\d+ ms .* 1 of 1$/m);
  expect(out).toMatch(/^HTTP\/3 +\d+ ms .* 1 of 1$/m);
  expect(out).not.toMatch(/^HTTP\/1\.1/m);
  // The origin: where it offers HTTP/3, least and smoothed round trip, bound of QUIC's, segments, losses, what was sent again.
  const origin = new URL(url).origin;
  const times = '\\d+\\.\\d+ ms +\\d+\\.\\d+ ms +<= \\d+\\.\\d+ ms';
  expect(out).toMatch(
    new RegExp(`^${origin} +Alt-Svc :${served.server.port} +${times} +\\d+ +0 +\\d+$`, 'm'),
  );
  expect(out).toMatch(/^UDP: unknown\. UDP gets through; 0 kB under both are too few/m);
  // Each resource under each protocol.
  expect(out.match(new RegExp(`^${url} +200 +HTTP/[23] `, 'gm'))).toHaveLength(2);
});

it('probe takes its plan from a HAR', () => {
  const entry = (path: string, startMs: number, mimeType: string, initiator: object) => ({
    startedDateTime: new Date(Date.UTC(2026, 10, 20, 12) + startMs).toISOString(),
    time: 20,
    request: {
      method: 'GET',
      url: served.server.url(path),
      httpVersion: 'h2',
      headers: [],
      headersSize: -1,
      bodySize: 0,
    },
    response: {
      status: 200,
      statusText: '',
      httpVersion: 'h2',
      headers: [{ name: 'alt-svc', value: 'h3=":443"; ma=60' }],
      content: { size: 1000, mimeType },
      redirectURL: '',
      headersSize: -1,
      bodySize: 1000,
    },
    timings: { blocked: 0, dns: -1, connect: -1, ssl: -1, send: 0, wait: 10, receive: 10 },
    _initiator: initiator,
    pageref: 'page',
  });
  const parser = { type: 'parser', url: served.server.url('/bytes/3000') };
  const har = {
    log: {
      version: '1.2',
      creator: { name: 'test', version: '1' },
      pages: [
        {
          id: 'page',
          title: served.server.url('/bytes/3000'),
          startedDateTime: '2026-11-20T12:00:00.000Z',
          pageTimings: { onContentLoad: 60, onLoad: 80 },
        },
      ],
      entries: [
        entry('/bytes/3000', 0, 'text/html', { type: 'other' }),
        entry('/bytes/1000/a.css', 30, 'text/css', parser),
        entry('/bytes/1000/b.png', 31, 'image/png', parser),
      ],
    },
  };
  const path = join(home, 'page.har');
  // As Windows PowerShell 5 writes what a command prints.
  writeFileSync(path, Buffer.from(`\uFEFF${JSON.stringify(har)}`, 'utf16le'));
  const { code, out } = run(['probe', '--har', path, '--rounds', '1', '--json']);
  expect(code).toBe(0);
  const verification = verificationSchema.parse(JSON.parse(out));
  expect(verification.pageUrl).toBe(served.server.url('/bytes/3000'));
  expect(verification.protocols.h2).toMatchObject({ provedRequests: 3, answeredRequests: 3 });
  // On a first visit the document arrives over HTTP/2 and offers HTTP/3.
  expect(verification.assignments).toHaveLength(1);
  expect(verification.assignments![0]).toMatchObject({ discoversH3: true, answeredRequests: 3 });
  const firstVisit = verification.assignments![0]!.rounds[0]!.transfers;
  expect(firstVisit.map(({ protocol }) => protocol)).toEqual(['h2', 'h3', 'h3']);
  const [document, ...rest] = verification.protocols.h2!.rounds[0]!.transfers;
  for (const { startMs } of rest) expect(startMs).toBeGreaterThanOrEqual(document!.endMs);

  writeFileSync(path, '{"log": {}}');
  const broken = run(['probe', '--har', path]);
  expect({ code: broken.code, out: broken.out }).toEqual({ code: 2, out: '' });
  expect(broken.err).toMatch(/page\.har: log\.entries: expected/);
});

it('probe fails where no protocol carries the page', () => {
  const { code, out, err } = run(['probe', 'https://127.0.0.1:1/', '--rounds', '1']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^hopwise-host: https:\/\/127\.0\.0\.1:1 cannot be reached: .*\n$/);
});

it('probe gives no time of a document that breaks off, and fails', () => {
  const { code, out } = run(['probe', served.server.url('/cut/60000'), '--rounds', '1']);
  expect(code).toBe(1);
  expect(out).toMatch(/^HTTP\/2 +- /m);
  expect(out).toMatch(/^HTTP\/2: 1 request failed, the first with: /m);
});

it('network checks the path by files of one server, repeated where they are small', () => {
  const urls = [served.server.url('/bytes/60000'), served.server.url('/bytes/50000')];
  const { code, out } = run(['network', ...urls]);
  expect(code).toBe(0);
  const [udp, path, rates, spent] = out.split('\n');
  // How fast QUIC is on this machine's own interface differs; that it was judged does not.
  expect(udp).toMatch(/^UDP: (open|unknown|policed)\. .*HTTP\/3 carries \d+% \(/);
  expect(path).toMatch(/^round trip: \d+\.\d ms; loss: \d+\.\d\d% of \d+ packets/);
  expect(rates).toMatch(/^rates: HTTP\/2 \d+\.\d Mbit\/s, HTTP\/3 \d+\.\d Mbit\/s$/);
  // Headers are counted, too.
  expect(spent).toMatch(new RegExp(`^56\\d kB from ${new URL(urls[0]!).origin} in \\d+\\.\\d s$`));

  const listed = run(['network', urls[0]!, '--json']);
  expect(JSON.parse(listed.out)).toMatchObject({ problem: '', udp: { answered: true } });
});

it('network names what is too small or too large for a check', () => {
  const { code, out, err } = run(['network', served.server.url('/bytes/9000')]);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^hopwise-host: expected files of 10 kB or more .*, got 200 with 9 kB\n$/);
  expect(run(['network', served.server.url('/bytes/400000')]).err).toContain('got 200 with 400 kB');
});

const REFUSED = [
  ['network'],
  ['network', 'https://a.test/', 'https://b.test/'],
  ['network', 'https://a.test/', '--every', '5'],
  ['network', 'https://a.test/', '--every', '5', '--for', '4'],
  ['probe'],
  ['probe', 'http://localhost/'],
  ['probe', 'nonsense'],
  ['probe', 'https://a.test/', '--rounds', '0'],
  ['probe', 'https://a.test/', '--protocols', 'h1,h4'],
  ['probe', '--har', '/nowhere.har'],
  ['install', '--extension-id', 'abc'],
  ['install', '--browser', 'lynx'],
  ['fly'],
];

it.each(drawShare(REFUSED, 4).map((words) => [words]))('refuses %j in one line', (args) => {
  const { code, out, err } = run(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^hopwise-host: .*\n$/);
});

/** Each quotes a URL; an answer of JSON, of a table, and errors of the commands and of the argument parser. */
it.each(
  [
    ['probe', '--json', '--rounds', '1'],
    ['probe', '--rounds', '1'],
    ['network'],
    ['pin', '--as', 'h2'],
    ['unpin'],
    ['resolver'],
    ['ca', 'create'],
    ['--libcurl'],
  ].map((words) => [words]),
)('%j repeats no password of a URL', (words) => {
  for (const scheme of ['http', 'https']) {
    const url = served.server.url('/bytes/10').replace('https://', `${scheme}://user:s3cret@`);
    const { out, err } = run([...words, url]);
    expect(out + err).not.toBe('');
    expect(out + err).not.toContain('s3cret');
  }
});

it('points to the help in errors of the argument parser', () => {
  expect(run(['fly']).err).toBe(`hopwise-host: unknown command 'fly' (see ${COMMAND} --help)\n`);
  expect(run(['pin']).err).toBe(
    `hopwise-host: missing required argument 'origin' (see ${COMMAND} pin --help)\n`,
  );
  expect(run(['help', 'fly']).err).toBe(`hopwise-host: unknown command 'fly' (see ${COMMAND} --help)\n`);
});

it('says in plain words what cannot be read, and what is missing', () => {
  expect(run(['probe', '--har', '/nowhere.har']).err).toBe(
    'hopwise-host: /nowhere.har: expected a readable file, but there is none\n',
  );
  expect(run(['probe']).err).toBe('hopwise-host: expected either URLs or --har <file>\n');
});
