/** The whole of `hopwise-host ca`, with OpenSSL and NSS's own tool as judges. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAuthority } from '../src/ca/authority-store.ts';
import { COMMAND, hopwiseHost } from './support/command.ts';
import { forgedLeaf } from './support/forged-leaf.ts';

const ORIGINS = ['https://a.test', 'https://www.a.test:8443', 'https://b.test'];
/** A folder without certutil. */
const WITHOUT_CERTUTIL = { PATH: '/nowhere' };

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hopwise ca '));
});

afterEach(() => rmSync(home, { recursive: true }));

const folder = (): string => join(home, 'data', 'hopwise', 'ca');

function ca(words: string[], environment?: NodeJS.ProcessEnv): ReturnType<typeof hopwiseHost> {
  return hopwiseHost(home, ['ca', ...words], environment);
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
  it('creates a CA that OpenSSL and NSS accept for its hosts only', () => {
    const store = database('store');
    ca(['create', ...ORIGINS]);
    ca(['trust', '--nss-db', store]);
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

  it('is the only command that creates one', () => {
    for (const words of [['status'], ['trust'], ['untrust'], ['remove']]) ca(words);
    hopwiseHost(home, ['status']);
    hopwiseHost(home, ['install']);
    expect(existsSync(folder())).toBe(false);
    expect(JSON.parse(ca(['status', '--json']).out)).toMatchObject({ hosts: [], root: '', stores: [] });
    expect(ca(['status']).out).toBe('local CA: none; only pins to a protocol need one\n');
    const launcher = join(home, 'data', 'hopwise', 'hopwise-host.sh');
    const { code, err } = ca(['trust']);
    expect({ code, err }).toEqual({
      code: 1,
      err: `hopwise-host: there is no local CA: '${launcher}' ca create https://example.org\n`,
    });
  });

  it('replaces the former CA and removes it from the stores', () => {
    const store = database('.pki/nssdb');
    ca(['create', 'https://a.test']);
    ca(['trust']);
    const { code, out } = ca(['create', 'https://b.test', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ hosts: ['b.test'], replaced: true });
    expect(listed(store)).not.toContain('hopwise');
    expect(stores(ca(['status', '--json']).out)).toMatchObject([{ folder: store, trusted: false }]);
    expect(ca(['status']).out).toContain(`: not trusted\nNo browser trusts it yet: ${COMMAND} ca trust\n`);
  });

  it('creates no new CA while a store still trusts the former one', () => {
    const store = database('.pki/nssdb');
    ca(['create', 'https://a.test']);
    ca(['trust']);
    const { code, err } = ca(['create', 'https://b.test'], WITHOUT_CERTUTIL);
    expect(code).toBe(1);
    expect(err).toMatch(/^hopwise-host: the former CA is deleted but still trusted, so no .*nssdb.*\n$/);
    expect(JSON.parse(ca(['status', '--json']).out)).toMatchObject({ hosts: [] });
    expect(ca(['create', 'https://b.test']).code).toBe(0);
    expect(listed(store)).not.toContain('hopwise');
  });

  it.each([
    [[]],
    [['http://a.test']],
    [['https://127.0.0.1']],
    [['https://*.test']],
    [['https://a.test', '--fast']],
  ])('refuses %j in one line', (words) => {
    const { code, out, err } = ca(['create', ...words]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(existsSync(folder())).toBe(false);
  });
});

describe('trust', () => {
  beforeEach(() => {
    ca(['create', ...ORIGINS]);
  });

  it("adds the root to every browser's store that is found, and untrust takes it out", () => {
    const chromium = database('.pki/nssdb');
    const relative = database('.mozilla/firefox/abc.default');
    const absolute = database('elsewhere');
    writeFileSync(
      join(home, '.mozilla/firefox/profiles.ini'),
      `[Install1]\nDefault=abc.default\n\n[Profile1]\nName=work\nIsRelative=0\nPath=${absolute}\n\n[Profile0]\r\nName=default\r\nIsRelative=1\r\nPath=abc.default\r\n\n[Profile2]\nName=gone\nIsRelative=1\nPath=gone\n`,
    );
    const { code, out } = ca(['trust', '--json']);
    expect(code).toBe(0);
    expect(stores(out).map(({ folder, browser, changed }) => [folder, browser, changed])).toEqual([
      [chromium, 'Chromium, Chrome, Edge and Brave', true],
      [absolute, 'Firefox profile work', true],
      [relative, 'Firefox profile default', true],
    ]);
    for (const store of [chromium, relative, absolute]) {
      expect(listed(store)).toMatch(/^hopwise local CA [0-9a-f]{8} +C,, *$/m);
    }
    expect(stores(ca(['trust', '--json']).out).every(({ changed }) => !changed)).toBe(true);
    const status = ca(['status']).out;
    expect(status).toMatch(/^local CA: for a\.test, b\.test, www\.a\.test, until \d{4}-\d\d-\d\d$/m);
    expect(status.match(/: trusted$/gm)).toHaveLength(3);

    expect(ca(['untrust', '--firefox-profile', relative]).code).toBe(0);
    expect(listed(relative)).not.toContain('hopwise');
    expect(listed(chromium)).toContain('hopwise');
    expect(stores(ca(['untrust', '--json']).out)).toHaveLength(2);
    for (const store of [chromium, absolute]) expect(listed(store)).not.toContain('hopwise');
    expect(ca(['untrust']).out).toMatch(/^no certificate store/);
  });

  it('says what it has done, to what, and how to undo it', () => {
    const store = database('.pki/nssdb');
    const { out } = ca(['trust']);
    expect(out).toMatch(/^"hopwise local CA [0-9a-f]{8}" \(SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\)$/m);
    expect(out).toContain('for a.test, b.test, www.a.test and no other host');
    expect(out).toContain(`${store}): now trusted`);
    expect(out).toContain(`${COMMAND} ca untrust`);
  });

  it('finds the store that Chromium makes where there was none', () => {
    const store = database('data/pki/nssdb');
    expect(stores(ca(['trust', '--json']).out)).toMatchObject([{ folder: store, trusted: true }]);
  });

  it('changes only what is named', () => {
    const other = database('.pki/nssdb');
    const named = database('named');
    expect(stores(ca(['trust', '--nss-db', named, '--json']).out)).toHaveLength(1);
    expect(listed(other)).not.toContain('hopwise');
    expect(listed(named)).toContain('hopwise');
    const { code, err } = ca(['trust', '--nss-db', join(home, 'nowhere')]);
    expect({ code, err }).toEqual({
      code: 2,
      err: `hopwise-host: --nss-db ${join(home, 'nowhere')}: no cert9.db in it\n`,
    });
  });

  it('leaves a store with a password unchanged, and prints the command', () => {
    const locked = database('locked', 'opensesame');
    const { code, out } = ca(['trust', '--nss-db', locked, '--json']);
    expect(code).toBe(1);
    const [store] = stores(out);
    expect(store).toMatchObject({ trusted: false, changed: false });
    expect(store!.problem).toContain(`certutil -A -d 'sql:${locked}' -t C,, -n 'hopwise local CA `);
    expect(listed(locked)).not.toContain('hopwise');
  });

  it('prints the steps when it cannot change stores itself', () => {
    database('.pki/nssdb');
    const { code, out } = ca(['trust'], WITHOUT_CERTUTIL);
    expect(code).toBe(1);
    expect(out).toMatch(/^Nothing was changed: certutil is missing \(.*libnss3-tools.*\)/);
    expect(out).toContain('chrome://certificate-manager');
    expect(out).toContain(join(folder(), 'root.pem'));
  });

  it('refuses a CA that other users can access, as doctor does', () => {
    const store = database('.pki/nssdb');
    chmodSync(folder(), 0o755);
    const { code, err } = ca(['trust']);
    expect(code).toBe(1);
    expect(err).toMatch(/is open to other users \(mode 755\)/);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(listed(store)).not.toContain('hopwise');
    expect(hopwiseHost(home, ['doctor']).out).toMatch(/^FAIL Local CA: .*is open to other users/m);
  });
});

describe('remove', () => {
  it('leaves nothing', () => {
    const chromium = database('.pki/nssdb');
    const before = readdirSync(home, { recursive: true }).sort();
    const rows = listed(chromium);
    ca(['create', ...ORIGINS]);
    ca(['trust']);
    expect(ca(['remove']).code).toBe(0);
    expect(listed(chromium)).toBe(rows);
    expect(
      readdirSync(home, { recursive: true })
        .filter((name) => name !== 'data')
        .sort(),
    ).toEqual(before);
    expect(ca(['remove']).out).toBe('there was no local CA\n');
  });

  it('also removes a CA from the stores that other users can access', () => {
    const chromium = database('.pki/nssdb');
    ca(['create', ...ORIGINS]);
    ca(['trust']);
    chmodSync(folder(), 0o777);
    chmodSync(join(folder(), 'root.pem'), 0o644);
    expect(ca(['remove']).code).toBe(0);
    expect(listed(chromium)).not.toContain('hopwise');
    expect(existsSync(folder())).toBe(false);
  });

  it('deletes the keys and can be called again where a store cannot be changed', () => {
    const chromium = database('.pki/nssdb');
    ca(['create', ...ORIGINS]);
    ca(['trust']);
    const first = ca(['remove', '--json'], WITHOUT_CERTUTIL);
    expect(first.code).toBe(1);
    expect(stores(first.out)[0]!.problem).toContain(`certutil -D -d 'sql:${chromium}' -n 'hopwise local CA `);
    expect(existsSync(join(folder(), 'issuers.json'))).toBe(false);
    expect(ca(['remove']).code).toBe(0);
    expect(listed(chromium)).not.toContain('hopwise');
    expect(existsSync(folder())).toBe(false);
  });

  it('is part of uninstall --all', () => {
    const chromium = database('.pki/nssdb');
    ca(['create', ...ORIGINS]);
    ca(['trust']);
    expect(hopwiseHost(home, ['uninstall', '--all']).code).toBe(0);
    expect(listed(chromium)).not.toContain('hopwise');
    expect(existsSync(folder())).toBe(false);
  });
});
