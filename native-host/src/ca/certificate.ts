/** X.509 certificates (RFC 5280) with ECDSA P-256 keys, created synchronously: a handshake waits for them. */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  type X509Certificate,
} from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import { nameConstraints } from './name-constraints.ts';

/** RFC 5758 section 3.2: no parameters. */
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
/** RFC 5280 appendix A: id-at-commonName. */
const COMMON_NAME = '2.5.4.3';
/** RFC 5280 section 4.1.2.2 allows 20; 16 random ones do not collide. */
const SERIAL_BYTES = 16;

interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/** Validity of a certificate, milliseconds since 1970; encoded to the second. */
export interface ValidityPeriod {
  notBeforeMs: number;
  notAfterMs: number;
}

/** A signing entity: its common name and keys. */
export interface Signer {
  commonName: string;
  keys: KeyPair;
}

export function newKeyPair(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/**
 * A CA certificate for TLS servers of these hosts only.
 *
 * @param pathLength number of CAs that may follow below it.
 * @returns PEM
 */
export function caCertificate(
  subject: Signer,
  issuer: Signer,
  period: ValidityPeriod,
  hosts: readonly string[],
  pathLength: number,
): string {
  return certificate(subject.commonName, subject.keys.publicKey, issuer, period, [
    extension(
      id_ce_basicConstraints,
      new BasicConstraints({ cA: true, pathLenConstraint: pathLength }),
      true,
    ),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign), true),
    extension(id_ce_nameConstraints, nameConstraints(hosts), true),
  ]);
}

/**
 * A server certificate for one host. Only its subjectAltName holds the host: a common name is limited to 64
 * characters.
 *
 * @returns PEM
 */
export function leafCertificate(
  host: string,
  publicKey: KeyObject,
  issuer: Signer,
  period: ValidityPeriod,
): string {
  return certificate('hopwise pin', publicKey, issuer, period, [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
    extension(id_ce_subjectAltName, new SubjectAlternativeName([new GeneralName({ dNSName: host })])),
  ]);
}

function certificate(
  commonName: string,
  publicKey: KeyObject,
  issuer: Signer,
  { notBeforeMs, notAfterMs }: ValidityPeriod,
  own: Extension[],
): string {
  const signature = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const serial = randomBytes(SERIAL_BYTES);
  // A positive integer without leading zeroes.
  serial[0] = (serial[0]! & 0x3f) | 0x40;
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: bufferOf(serial),
    signature,
    issuer: nameOf(issuer.commonName),
    validity: new Validity({ notBefore: wholeSecond(notBeforeMs), notAfter: wholeSecond(notAfterMs) }),
    subject: nameOf(commonName),
    subjectPublicKeyInfo: AsnConvert.parse(spki(publicKey), SubjectPublicKeyInfo),
    extensions: new Extensions([
      ...own,
      extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(publicKey))),
      extension(
        id_ce_authorityKeyIdentifier,
        new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyId(issuer.keys.publicKey)) }),
      ),
    ]),
  });
  const signed = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), issuer.keys.privateKey);
  const der = AsnConvert.serialize(
    new Certificate({ tbsCertificate, signatureAlgorithm: signature, signatureValue: bufferOf(signed) }),
  );
  const lines = Buffer.from(der)
    .toString('base64')
    .match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** The subject's common name; '' when it has none. */
export function commonName(certificate: X509Certificate): string {
  return /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? '';
}

function extension(extnID: string, value: object, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / 1000) * 1000);
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

/** RFC 7093 section 2, method 4 in its 160 bits: a digest of the SubjectPublicKeyInfo. */
function keyId(key: KeyObject): ArrayBuffer {
  return bufferOf(createHash('sha256').update(spki(key)).digest().subarray(0, 20));
}

function bufferOf(bytes: Buffer): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
