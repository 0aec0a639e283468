import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, id_ce_nameConstraints, NameConstraints } from '@peculiar/asn1-x509';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { type Authority, createAuthority } from '../../src/ca/authority.ts';
import { authorityStatus } from '../../src/ca/authority-status.ts';
import { readAuthority, removeFolder, removeKeys, writeAuthority } from '../../src/ca/authority-store.ts';
import { hostsOf, readOrigin } from '../../src/ca/hosts.ts';
import { AuthorityError } from '../../src/ca/private-file.ts';
import { forgedLeaf } from '../support/forged-leaf.ts';
import { handshake } from '../support/handshake.ts';

const HOSTS = ['a.test', 'b.test', 'www.a.test'];

let home: string;
let folder: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hopwise-ca-'));
  folder = join(home, 'ca');
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function constraintsOf(pem: string): { permitted: string[]; excluded: string[]; critical: boolean } {
  const { tbsCertificate } = AsnConvert.parse(new X509Certificate(pem).raw, Certificate);
  const extension = tbsCertificate.extensions!.find(({ extnID }) => extnID === id_ce_nameConstraints)!;
  const constraints = AsnConvert.parse(extension.extnValue, NameConstraints);
  const names = (subtrees: NameConstraints['permittedSubtrees']): string[] =>
    [...subtrees!].map(({ base }) => (base.dNSName ?? base.iPAddress)!).sort();
  return {
    permitted: names(constraints.permittedSubtrees),
    excluded: names(constraints.excludedSubtrees),
    critical: extension.critical,
  };
}

describe('hostsOf', () => {
  it('takes the hosts of origins, each once', () => {
    const origins = ['https://b.test', 'https://A.test/', 'https://a.test:8443', 'https://localhost:1'];
    expect(hostsOf(origins)).toEqual(['a.test', 'b.test', 'localhost']);
    expect(hostsOf(['https://bücher.example'])).toEqual(['xn--bcher-kva.example']);
  });

  it.each([
    'a.test',
    'http://a.test',
    'https://a.test/page',
    'https://a.test/?q',
    'https://me@a.test',
    'https://*.a.test',
    'https://a..test',
    'https://a.test.',
    'https://-a.test',
    'https://test',
    'https://127.0.0.1',
    'https://0x7f.1',
    'https://[::1]',
    `https://${'a'.repeat(64)}.test`,
    `https://${'a.'.repeat(126)}test`,
    '',
  ])('refuses %j in one line', (origin) => {
    expect(() => hostsOf(['https://a.test', origin])).toThrow(UsageError);
    expect(() => hostsOf([origin])).toThrow(/^[^\n]+$/);
  });

  it('refuses no origins, and too many', () => {
    expect(() => hostsOf([])).toThrow(UsageError);
    const many = Array.from({ length: 101 }, (_, index) => `https://h${index}.test`);
    expect(() => hostsOf(many)).toThrow(/at most 100 hosts, got 101/);
  });
});

describe('createAuthority', () => {
  it('constrains the root to the hosts, and each issuer to its one', () => {
    const { root, issuers } = createAuthority(HOSTS);
    expect(constraintsOf(root)).toEqual({
      critical: true,
      permitted: HOSTS,
      // Not `.a.test`, below which www.a.test is pinned.
      excluded: ['.b.test', '.www.a.test', '0.0.0.0/0', '::/0'],
    });
    expect(issuers.map(({ host }) => host)).toEqual(HOSTS);
    for (const { host, certificate } of issuers) {
      expect(constraintsOf(certificate)).toEqual({
        critical: true,
        permitted: [host],
        excluded: [`.${host}`, '0.0.0.0/0', '::/0'],
      });
    }
  });

  it("keeps no root's key", () => {
    const { root, issuers } = createAuthority(HOSTS);
    const spki = (pem: string): Buffer =>
      createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' });
    const ofRoot = new X509Certificate(root).publicKey.export({ type: 'spki', format: 'der' });
    for (const { key } of issuers) expect(spki(key).equals(ofRoot)).toBe(false);
  });

  it.each([
    ['a.test', 'a.test', true],
    ['www.a.test', 'www.a.test', true],
    ['a.test', 'www.a.test', false],
    ['a.test', 'sub.a.test', false],
    ['a.test', 'b.test', false],
    ['a.test', 'other.test', false],
    ['www.a.test', 'x.www.a.test', false],
  ])('the issuer of %s may certify %s: %s', async (host, name, good) => {
    const { root, issuers } = createAuthority(HOSTS);
    const { key, cert } = forgedLeaf(issuers.find((issuer) => issuer.host === host)!, name);
    const meeting = handshake(createSecureContext({ key, cert }), name, { ca: root });
    if (good) expect((await meeting).subjectaltname).toBe(`DNS:${name}`);
    else await expect(meeting).rejects.toThrow(/subtree violation/);
  });
});

describe('the authority on disk', () => {
  let authority: Authority;
  beforeEach(async () => {
    authority = createAuthority(HOSTS);
    await writeAuthority(authority, folder);
  });

  const mode = (path: string): number => statSync(path).mode & 0o777;

  it("is its owner's alone, and read again as it was", () => {
    expect(mode(folder)).toBe(0o700);
    expect(readdirSync(folder).sort()).toEqual(['issuers.json', 'root.pem']);
    for (const name of readdirSync(folder)) expect(mode(join(folder, name))).toBe(0o600);
    expect(readAuthority(folder)).toEqual(authority);
    expect(readdirSync(home)).toEqual(['ca']);
  });

  it('is null where there is none', () => {
    expect(readAuthority(join(home, 'nowhere'))).toBeNull();
  });

  it.each([
    ['', 0o755],
    ['', 0o701],
    ['issuers.json', 0o640],
    ['issuers.json', 0o604],
    ['root.pem', 0o644],
  ])('is refused in one line where others can reach %j (%o)', (name, open) => {
    chmodSync(join(folder, name), open);
    expect(() => readAuthority(folder)).toThrow(AuthorityError);
    expect(() => readAuthority(folder)).toThrow(/^[^\n]+is open to other users[^\n]+$/);
    expect(authorityStatus(folder)).toMatchObject({ hosts: [], fix: expect.stringContaining('chmod') });
  });

  it('is refused where a link leads elsewhere', () => {
    renameSync(join(folder, 'issuers.json'), join(home, 'elsewhere'));
    symlinkSync(join(home, 'elsewhere'), join(folder, 'issuers.json'));
    expect(() => readAuthority(folder)).toThrow(AuthorityError);
    renameSync(folder, join(home, 'moved'));
    symlinkSync(join(home, 'moved'), folder);
    expect(() => readAuthority(folder)).toThrow(/is not a folder/);
  });

  it.each([
    ['issuers.json', '{"version":1'],
    ['issuers.json', '{"version":2,"issuers":[]}'],
    ['root.pem', 'nonsense'],
    ['root.pem', createAuthority(HOSTS).root],
  ])('is refused when %s is %j', (name, text) => {
    writeFileSync(join(folder, name), text);
    expect(() => readAuthority(folder)).toThrow(AuthorityError);
  });

  it('is refused when a key belongs to another certificate', () => {
    const path = join(folder, 'issuers.json');
    const [first, second] = authority.issuers;
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(JSON.stringify(first!.key), JSON.stringify(second!.key)),
    );
    expect(() => readAuthority(folder)).toThrow(/the key of a\.test is not its certificate's/);
  });

  it('is complete or missing after a crash during its creation', async () => {
    // As a crash leaves it: a draft beside the folder, in any state.
    const draft = join(home, '.ca-new-123456');
    mkdirSync(draft);
    writeFileSync(join(draft, 'root.pem'), authority.root);
    expect(readAuthority(folder)).toEqual(authority);
    rmSync(folder, { recursive: true });
    expect(readAuthority(folder)).toBeNull();
    await writeAuthority(authority, folder);
    expect(readdirSync(home)).toEqual(['ca']);
  });

  it('is replaced atomically', async () => {
    const other = createAuthority(['c.test']);
    await writeAuthority(other, folder);
    expect(readAuthority(folder)).toEqual(other);
    expect(readdirSync(home)).toEqual(['ca']);
  });

  it('is no authority without its keys', async () => {
    await removeKeys(folder);
    expect(readAuthority(folder)).toBeNull();
    expect(await removeFolder(folder)).toBe(true);
    expect(await removeFolder(folder)).toBe(false);
  });

  it('has a status until it ends', () => {
    const ends = Date.parse(new X509Certificate(authority.root).validTo);
    expect(authorityStatus(folder, ends - 1)).toMatchObject({ hosts: HOSTS, problem: '', fix: '' });
    expect(authorityStatus(folder, ends).problem).toMatch(/^it expired on \d{4}-\d\d-\d\d$/);
    expect(authorityStatus(join(home, 'nowhere'))).toMatchObject({ hosts: [], root: '', problem: '' });
  });
});

describe('an origin of the command line', () => {
  it.each(['https://*.example.org', 'https://*', 'https://%2a.example.org', 'https://a*.example.org:8443'])(
    'is no pattern: %s',
    (text) => {
      expect(() => readOrigin(text)).toThrow(UsageError);
      expect(() => readOrigin(text)).toThrow(
        /^expected one origin such as https:\/\/www\.example\.org, got a pattern/,
      );
    },
  );

  it('is read in its one form', () => {
    expect(readOrigin('https://Example.org/')).toBe('https://example.org');
  });
});
