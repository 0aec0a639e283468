/** The status of the local CA, read without using its keys. */

import { X509Certificate } from 'node:crypto';
import { launcherCommand } from '../base/launcher.ts';
import { authorityFolder, readAuthority, rootFile } from './authority-store.ts';
import { commonName } from './certificate.ts';
import { AuthorityError } from './private-file.ts';

export interface AuthorityStatus {
  /** Hosts that it can issue certificates for; empty without a usable authority. */
  hosts: string[];
  /** Name of its root in browsers' stores; '' without one. */
  name: string;
  /** SHA-256 of the root, colons between its bytes; '' without one. */
  fingerprint: string;
  /** Path of the root; '' without one. */
  root: string;
  /** ISO 8601; '' without one. */
  expires: string;
  /** Why it cannot be used, and the fix; both '' when it can, or when there is none. */
  problem: string;
  fix: string;
}

const NONE: AuthorityStatus = {
  hosts: [],
  name: '',
  fingerprint: '',
  root: '',
  expires: '',
  problem: '',
  fix: '',
};

export function authorityStatus(folder: string = authorityFolder(), nowMs = Date.now()): AuthorityStatus {
  try {
    const authority = readAuthority(folder);
    if (!authority) return NONE;
    const root = new X509Certificate(authority.root);
    const expires = new Date(root.validTo).toISOString();
    const ended = nowMs >= Date.parse(root.validTo);
    return {
      hosts: authority.issuers.map(({ host }) => host),
      name: commonName(root),
      fingerprint: root.fingerprint256,
      root: rootFile(folder),
      expires,
      problem: ended ? `it expired on ${expires.slice(0, 10)}` : '',
      fix: ended ? `run: ${launcherCommand('ca create')}, with the origins that you pin` : '',
    };
  } catch (fault) {
    if (!(fault instanceof AuthorityError)) throw fault;
    return { ...NONE, problem: fault.problem, fix: fault.fix };
  }
}

/** That there is no CA for a host, with the fix, in one line. */
export function explainMissing(host?: string): string {
  const fix = launcherCommand(`ca create https://${host ?? 'example.org'}`);
  return `there is no local CA${host ? ` for ${host}` : ''}: ${fix}`;
}

/** The status in one line. */
export function authorityLine({ hosts, expires, problem }: AuthorityStatus): string {
  if (problem) return problem;
  if (hosts.length === 0) return 'none; only pins to a protocol need one';
  return `for ${hosts.join(', ')}, until ${expires.slice(0, 10)}`;
}
