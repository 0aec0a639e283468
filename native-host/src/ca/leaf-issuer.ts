/** Server certificates of the pinned hosts, issued on demand and kept in memory only. */

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { DAY_MS } from '@hopwise/contract';
import { BACKDATE_MS, type Issuer } from './authority.ts';
import { authorityFolder, fingerprintOfFiles, readAuthority } from './authority-store.ts';
import { commonName, leafCertificate, newKeyPair, type Signer, type ValidityPeriod } from './certificate.ts';
import { AuthorityError } from './private-file.ts';

export interface LeafIssuer {
  /** The TLS context of `host`; null without an authority, or outside its name constraints. */
  contextFor(host: string): SecureContext | null;
  /** Hosts that it can issue certificates for now. */
  listHosts(): string[];
}

/** A leaked key is usable for days only. */
const LEAF_LIFETIME_MS = 3 * DAY_MS;
/** A connection may use its certificate for hours, across a machine's sleep. */
const RENEW_BEFORE_MS = DAY_MS;

interface Leaf {
  context: SecureContext;
  period: ValidityPeriod;
}

interface OpenIssuer {
  signer: Signer;
  period: ValidityPeriod;
  certificate: string;
  leaf: Leaf | null;
}

/**
 * Issues from the current authority in `folder`: one that is created, replaced, removed or made accessible to other users takes
 * effect with the next call.
 */
export class LocalLeafIssuer implements LeafIssuer {
  readonly #folder: string;
  readonly #log: (line: string) => void;
  readonly #now: () => number;
  #fingerprint = '';
  #issuers = new Map<string, OpenIssuer>();

  /** @param options.now the clock, milliseconds since 1970. */
  constructor(options: { log: (line: string) => void; folder?: string; now?: () => number }) {
    this.#folder = options.folder ?? authorityFolder();
    this.#log = options.log;
    this.#now = options.now ?? Date.now;
  }

  contextFor(host: string): SecureContext | null {
    this.#refresh();
    const issuer = this.#issuers.get(host);
    if (!issuer) return null;
    const nowMs = this.#now();
    // A new certificate must outlast its renewal, however soon the authority expires.
    if (!holds(issuer.period, nowMs)) return null;
    if (!issuer.leaf || !holds(issuer.leaf.period, nowMs)) issuer.leaf = mint(host, issuer, nowMs);
    return issuer.leaf.context;
  }

  listHosts(): string[] {
    this.#refresh();
    const nowMs = this.#now();
    return [...this.#issuers].flatMap(([host, { period }]) => (holds(period, nowMs) ? [host] : []));
  }

  #refresh(): void {
    const fingerprint = fingerprintOfFiles(this.#folder);
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    this.#issuers = new Map();
    try {
      const issuers = readAuthority(this.#folder)?.issuers ?? [];
      this.#issuers = new Map(issuers.map((issuer) => [issuer.host, open(issuer)]));
    } catch (fault) {
      if (!(fault instanceof AuthorityError)) throw fault;
      this.#log(`no local CA: ${fault.message}`);
    }
  }
}

/** Whether a certificate is valid and not about to expire. A clock that was set back is before its start. */
function holds({ notBeforeMs, notAfterMs }: ValidityPeriod, nowMs: number): boolean {
  return nowMs >= notBeforeMs && nowMs < notAfterMs - RENEW_BEFORE_MS;
}

function open({ certificate, key }: Issuer): OpenIssuer {
  const x509 = new X509Certificate(certificate);
  const privateKey = createPrivateKey(key);
  return {
    signer: {
      commonName: commonName(x509),
      keys: { privateKey, publicKey: createPublicKey(privateKey) },
    },
    period: { notBeforeMs: Date.parse(x509.validFrom), notAfterMs: Date.parse(x509.validTo) },
    certificate,
    leaf: null,
  };
}

function mint(host: string, issuer: OpenIssuer, nowMs: number): Leaf {
  const keys = newKeyPair();
  const period = {
    notBeforeMs: nowMs - BACKDATE_MS,
    notAfterMs: Math.min(nowMs + LEAF_LIFETIME_MS, issuer.period.notAfterMs),
  };
  const leaf = leafCertificate(host, keys.publicKey, issuer.signer, period);
  return {
    period,
    context: createSecureContext({
      key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      cert: leaf + issuer.certificate,
      minVersion: 'TLSv1.2',
    }),
  };
}
