/** The whole of `hopwise-host ca`, with OpenSSL and NSS's own tool as judges. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { addCaCommands } from '../../bin/ca-command.ts';
import { readAuthority } from '../../src/ca/authority-store.ts';
import { COMMAND, homeEnvironment, hopwiseHost } from '../support/command.ts';
import { forgedLeaf } from '../support/forged-leaf.ts';

const ORIGINS = ['https://a.test', 'https://www.a.test:8443', 'https://b.test'];
/** A folder without certutil. */
const WITHOUT_CERTUTIL = { PATH: '/nowhere' };

let home: string;
/** A copy of the CA for `ORIGINS`: to create one takes longer than to copy it. */
let created: string;

beforeAll(() => {
  created = mkdtempSync(join(tmpdir(), 'hopwise-ca-'));
  expect(hopwiseHost(created, ['ca', 'create', ...ORIGINS]).code).toBe(0);
});

afterAll(() => rmSync(created, { recursive: true }));

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hopwise ca '));
});

afterEach(() => rmSync(home, { recursive: true }));

const folder = (): string => join(home, 'data', 'hopwise', 'ca');

function runCa(words: string[], environment?: NodeJS.ProcessEnv): ReturnType<typeof hopwiseHost> {
  return hopwiseHost(home, ['ca', ...words], environment);
}

const printed: string[] = vi.hoisted(() => []);
vi.mock(import('../../bin/output.ts'), async (original) => ({
  ...(await original()),
  print: (text) => void printed.push(`${text}\n`),
  printJson: (value) => void printed.push(`${JSON.stringify(value)}\n`),
}));

/** Runs the command in this process, which takes a fraction of the time. Errors are thrown, and texts name another command. */
async function ca(
  words: string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<{ code: number | string; out: string }> {
  for (const [name, value] of Object.entries({ ...homeEnvironment(home), ...environment }))
    vi.stubEnv(name, value);
  try {
    const command = new Command('ca').exitOverride();
    addCaCommands(command);
    await command.parseAsync(words, { from: 'user' });
    return { code: process.exitCode ?? 0, out: printed.join('') };
  } finally {
    vi.unstubAllEnvs();
    process.exitCode = undefined;
    printed.length = 0;
  }
}

/** Creates what `ca create` does for `ORIGINS`. */
function createOnce(): void {
  execFileSync('cp', ['-a', join(created, 'data'), home]);
}

function database(name: string, password = ''): string {
  const path = join(home, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(home, 'password'), password);
  const locked = password ? ['-f', join(home, 'password')] : ['--empty-password'];
  execFileSync('certutil', ['-N', '-d', `sql:${path}`, ...locked]);
  return path;
}

function listed(path: string): string {
  return execFileSync('certutil', ['-L', '-d', `sql:${path}`], { encoding: 'utf8' });
}

/** What OpenSSL says of a server's chain. */
function opensslVerdict({ root, issuer, leaf }: Record<'root' | 'issuer' | 'leaf', string>): string {
  const words = ['-x509_strict', '-purpose', 'sslserver', '-CAfile', root, '-untrusted', issuer, leaf];
  const { stdout, stderr } = spawnSync('openssl', ['verify', ...words], { encoding: 'utf8' });
  return /OK$|\w+ subtree violation/m.exec(stdout + stderr)?.[0] ?? stderr;
}

/** What NSS says of it by libpkix; the root is in the store. */
function nssVerdict({ issuer, leaf }: Record<'issuer' | 'leaf', string>, store: string): string {
  const sslServer = '1';
  const words = ['-d', `sql:${store}`, '-pp', '-u', sslServer, '-a', leaf, '-a', issuer];
  const { stdout, stderr } = spawnSync('vfychain', words, { encoding: 'utf8' });
  return /Chain is \w+!/.exec(stdout + stderr)?.[0] ?? stderr;
}

interface Stores {
  stores: { folder: string; browser: string; trusted: boolean; changed: boolean; problem: string }[];
}

function stores(out: string): Stores['stores'] {
  return (JSON.parse(out) as Stores).stores;
}

describe('create', () => {
  it('creates a CA that OpenSSL and NSS accept for its hosts only', async () => {
    const store = database('store');
    await ca(['create', ...ORIGINS]);
    await ca(['trust', '--nss-db', store]);
    const { root, issuers } = readAuthority(folder())!;
    const files = { root: join(home, 'root'), issuer: join(home, 'issuer'), leaf: join(home, 'leaf') };
    writeFileSync(files.root, root);
    const verdicts: Record<string, [string, string]> = {};
    for (const [host, name] of [
      ['a.test', 'a.test'],
      ['b.test', 'b.test'],
      ['www.a.test', 'www.a.test'],
      ['a.test', 'www.a.test'],
      ['a.test', 'sub.a.test'],
      ['www.a.test', 'x.www.a.test'],
      ['a.test', '*.a.test'],
      ['a.test', 'other.test'],
    ] as const) {
      const issuer = issuers.find((one) => one.host === host)!;
      writeFileSync(files.issuer, issuer.certificate);
      writeFileSync(files.leaf, forgedLeaf(issuer, name).leaf);
      verdicts[`${host} for ${name}`] = [opensslVerdict(files), nssVerdict(files, store)];
    }
    const good = ['OK', 'Chain is good!'];
    const excluded = ['excluded subtree violation', 'Chain is bad!'];
    expect(verdicts).toEqual({
      'a.test for a.test': good,
      'b.test for b.test': good,
      'www.a.test for www.a.test': good,
      'a.test for www.a.test': excluded,
      'a.test for sub.a.test': excluded,
      'www.a.test for x.www.a.test': excluded,
      'a.test for *.a.test': excluded,
      'a.test for other.test': ['permitted subtree violation', 'Chain is bad!'],
    });
  });

  it('is the only command that creates one', async () => {
    for (const words of [['status'], ['trust'], ['untrust'], ['remove']]) runCa(words);
    hopwiseHost(home, ['status']);
    hopwiseHost(home, ['install']);
    expect(existsSync(folder())).toBe(false);
    expect(JSON.parse((await ca(['status', '--json'])).out)).toMatchObject({
      hosts: [],
      root: '',
      stores: [],
    });
    expect((await ca(['status'])).out).toBe('local CA: none; only pins to a protocol need one\n');
    const launcher = join(home, 'data', 'hopwise', 'hopwise-host.sh');
    const { code, err } = runCa(['trust']);
    expect({ code, err }).toEqual({
      code: 1,
      err: `hopwise-host: there is no local CA: '${launcher}' ca create https://example.org\n`,
    });
  });

  it('replaces the former CA and removes it from the stores', async () => {
    const store = database('.pki/nssdb');
    await ca(['create', 'https://a.test']);
    await ca(['trust']);
    const { code, out } = await ca(['create', 'https://b.test', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ hosts: ['b.test'], replaced: true });
    expect(listed(store)).not.toContain('hopwise');
    expect(stores((await ca(['status', '--json'])).out)).toMatchObject([{ folder: store, trusted: false }]);
    expect(runCa(['status']).out).toContain(`: not trusted\nNo browser trusts it yet: ${COMMAND} ca trust\n`);
  });

  it('creates no new CA while a store still trusts the former one', async () => {
    const store = database('.pki/nssdb');
    await ca(['create', 'https://a.test']);
    await ca(['trust']);
    const { code, err } = runCa(['create', 'https://b.test'], WITHOUT_CERTUTIL);
    expect(code).toBe(1);
    expect(err).toMatch(/^hopwise-host: the former CA is deleted but still trusted, so no .*nssdb.*\n$/);
    expect(JSON.parse((await ca(['status', '--json'])).out)).toMatchObject({ hosts: [] });
    expect((await ca(['create', 'https://b.test'])).code).toBe(0);
    expect(listed(store)).not.toContain('hopwise');
  });

  const refused = [
    [],
    ['http://a.test'],
    ['https://127.0.0.1'],
    ['https://*.test'],
    ['https://a.test', '--fast'],
  ];
  it.each(drawShare(refused, 2).map((words) => [words]))('refuses %j in one line', (words) => {
    const { code, out, err } = runCa(['create', ...words]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(existsSync(folder())).toBe(false);
  });
});

describe('trust', () => {
  beforeEach(createOnce);

  it("adds the root to every browser's store that is found, and untrust takes it out", async () => {
    const chromium = database('.pki/nssdb');
    const relative = database('.mozilla/firefox/abc.default');
    const absolute = database('elsewhere');
    writeFileSync(
      join(home, '.mozilla/firefox/profiles.ini'),
      `[Install1]\nDefault=abc.default\n\n[Profile1]\nName=work\nIsRelative=0\nPath=${absolute}\n\n[Profile0]\r\nName=default\r\nIsRelative=1\r\nPath=abc.default\r\n\n[Profile2]\nName=gone\nIsRelative=1\nPath=gone\n`,
    );
    const { code, out } = await ca(['trust', '--json']);
    expect(code).toBe(0);
    expect(stores(out).map(({ folder, browser, changed }) => [folder, browser, changed])).toEqual([
      [chromium, 'Chromium, Chrome, Edge and Brave', true],
      [absolute, 'Firefox profile work', true],
      [relative, 'Firefox profile default', true],
    ]);
    for (const store of [chromium, relative, absolute]) {
      expect(listed(store)).toMatch(/^hopwise local CA [0-9a-f]{8} +C,, *$/m);
    }
    expect(stores((await ca(['trust', '--json'])).out).every(({ changed }) => !changed)).toBe(true);
    const status = (await ca(['status'])).out;
    expect(status).toMatch(/^local CA: for a\.test, b\.test, www\.a\.test, until \d{4}-\d\d-\d\d$/m);
    expect(status.match(/: trusted$/gm)).toHaveLength(3);

    expect((await ca(['untrust', '--firefox-profile', relative])).code).toBe(0);
    expect(listed(relative)).not.toContain('hopwise');
    expect(listed(chromium)).toContain('hopwise');
    expect(stores((await ca(['untrust', '--json'])).out)).toHaveLength(2);
    for (const store of [chromium, absolute]) expect(listed(store)).not.toContain('hopwise');
    expect((await ca(['untrust'])).out).toMatch(/^no certificate store/);
  });

  it('says what it has done, to what, and how to undo it', () => {
    const store = database('.pki/nssdb');
    const { out } = runCa(['trust']);
    expect(out).toMatch(/^"hopwise local CA [0-9a-f]{8}" \(SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\)$/m);
    expect(out).toContain('for a.test, b.test, www.a.test and no other host');
    expect(out).toContain(`${store}): now trusted`);
    expect(out).toContain(`${COMMAND} ca untrust`);
  });

  it('finds the store that Chromium makes where there was none', async () => {
    const store = database('data/pki/nssdb');
    expect(stores((await ca(['trust', '--json'])).out)).toMatchObject([{ folder: store, trusted: true }]);
  });

  it('changes only what is named', async () => {
    const other = database('.pki/nssdb');
    const named = database('named');
    expect(stores((await ca(['trust', '--nss-db', named, '--json'])).out)).toHaveLength(1);
    expect(listed(other)).not.toContain('hopwise');
    expect(listed(named)).toContain('hopwise');
    const { code, err } = runCa(['trust', '--nss-db', join(home, 'nowhere')]);
    expect({ code, err }).toEqual({
      code: 2,
      err: `hopwise-host: --nss-db ${join(home, 'nowhere')}: expected a folder with cert9.db\n`,
    });
  });

  it('leaves a store with a password unchanged, and prints the command', async () => {
    const locked = database('locked', 'opensesame');
    const { code, out } = await ca(['trust', '--nss-db', locked, '--json']);
    expect(code).toBe(1);
    const [store] = stores(out);
    expect(store).toMatchObject({ trusted: false, changed: false });
    expect(store!.problem).toContain(`certutil -A -d 'sql:${locked}' -t C,, -n 'hopwise local CA `);
    expect(listed(locked)).not.toContain('hopwise');
  });

  it('prints the steps when it cannot change stores itself', async () => {
    database('.pki/nssdb');
    const { code, out } = await ca(['trust'], WITHOUT_CERTUTIL);
    expect(code).toBe(1);
    expect(out).toMatch(/^Nothing was changed: certutil is missing \(.*libnss3-tools.*\)/);
    expect(out).toContain('chrome://certificate-manager');
    expect(out).toContain(join(folder(), 'root.pem'));
  });

  it('refuses a CA that other users can access, as doctor does', () => {
    const store = database('.pki/nssdb');
    chmodSync(folder(), 0o755);
    const { code, err } = runCa(['trust']);
    expect(code).toBe(1);
    expect(err).toMatch(/is open to other users \(mode 755\)/);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(listed(store)).not.toContain('hopwise');
    expect(hopwiseHost(home, ['doctor']).out).toMatch(/^FAIL Local CA: .*is open to other users/m);
  });
});

describe('remove', () => {
  it('leaves nothing', async () => {
    const chromium = database('.pki/nssdb');
    const before = readdirSync(home, { recursive: true }).sort();
    const rows = listed(chromium);
    createOnce();
    await ca(['trust']);
    expect((await ca(['remove'])).code).toBe(0);
    expect(listed(chromium)).toBe(rows);
    expect(
      readdirSync(home, { recursive: true })
        .filter((name) => name !== 'data')
        .sort(),
    ).toEqual(before);
    expect((await ca(['remove'])).out).toBe('there was no local CA\n');
  });

  it('also removes a CA from the stores that other users can access', async () => {
    const chromium = database('.pki/nssdb');
    createOnce();
    await ca(['trust']);
    chmodSync(folder(), 0o777);
    chmodSync(join(folder(), 'root.pem'), 0o644);
    expect((await ca(['remove'])).code).toBe(0);
    expect(listed(chromium)).not.toContain('hopwise');
    expect(existsSync(folder())).toBe(false);
  });

  it('deletes the keys and can be called again where a store cannot be changed', async () => {
    const chromium = database('.pki/nssdb');
    createOnce();
    await ca(['trust']);
    const first = await ca(['remove', '--json'], WITHOUT_CERTUTIL);
    expect(first.code).toBe(1);
    expect(stores(first.out)[0]!.problem).toContain(`certutil -D -d 'sql:${chromium}' -n 'hopwise local CA `);
    expect(existsSync(join(folder(), 'issuers.json'))).toBe(false);
    expect((await ca(['remove'])).code).toBe(0);
    expect(listed(chromium)).not.toContain('hopwise');
    expect(existsSync(folder())).toBe(false);
  });

  it('is part of uninstall --all', async () => {
    const chromium = database('.pki/nssdb');
    createOnce();
    await ca(['trust']);
    expect(hopwiseHost(home, ['uninstall', '--all']).code).toBe(0);
    expect(listed(chromium)).not.toContain('hopwise');
    expect(existsSync(folder())).toBe(false);
  });
});
