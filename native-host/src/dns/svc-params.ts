/** A parser of HTTPS records (RFC 9460). */

/** One HTTPS record. */
export interface ServiceRecord {
  /** SvcPriority; 0 stands for an alias of `target`. */
  priority: number;
  /** TargetName, '' for the owner's own name. */
  target: string;
  /** Protocols of connections (ALPN), as `h2` and `h3`; those of the default (`http/1.1`) are not listed. */
  alpn: string[];
  /** null for the URL's port. */
  port: number | null;
  /** Whether it has keys for an encrypted ClientHello. */
  ech: boolean;
}

/** RFC 9460, section 14.3.2. */
const KEY = { MANDATORY: 0, ALPN: 1, NO_DEFAULT_ALPN: 2, PORT: 3, IPV4HINT: 4, ECH: 5, IPV6HINT: 6 };
const KNOWN_KEYS: readonly number[] = Object.values(KEY);

/** A printable identifier: ALPN identifiers may be any bytes (RFC 7301, section 6). */
const PRINTABLE = /^[\x21-\x7e]{1,32}$/;

/**
 * Reads RDATA of type 65.
 *
 * @returns null for malformed data (RFC 9460, section 2.2), and for a mandatory parameter that is unknown here
 */
export function readServiceRecord(data: Uint8Array): ServiceRecord | null {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  try {
    return read(bytes);
  } catch (fault) {
    // A length that exceeds the record.
    if (fault instanceof RangeError) return null;
    throw fault;
  }
}

function read(bytes: Buffer): ServiceRecord | null {
  const priority = bytes.readUInt16BE(0);
  const labels: string[] = [];
  let at = 2;
  for (let length = bytes.readUInt8(at++); length > 0; length = bytes.readUInt8(at++)) {
    // The name is not compressed (section 2.2).
    if (length > 63 || at + length > bytes.length) return null;
    labels.push(bytes.toString('latin1', at, at + length));
    at += length;
  }
  const record: ServiceRecord = { priority, target: labels.join('.'), alpn: [], port: null, ech: false };
  if (!/^[\w.-]{0,253}$/.test(record.target)) return null;
  let former = -1;
  while (at < bytes.length) {
    const key = bytes.readUInt16BE(at);
    const end = at + 4 + bytes.readUInt16BE(at + 2);
    if (key <= former || end > bytes.length) return null;
    const value = bytes.subarray(at + 4, end);
    if (key === KEY.MANDATORY && !knowsAll(value)) return null;
    if (key === KEY.ALPN && !readAlpn(value, record.alpn)) return null;
    if (key === KEY.PORT) {
      if (value.length !== 2) return null;
      record.port = value.readUInt16BE(0);
    }
    if (key === KEY.ECH) record.ech = true;
    former = key;
    at = end;
  }
  return record;
}

function knowsAll(keys: Buffer): boolean {
  for (let at = 0; at < keys.length; at += 2) if (!KNOWN_KEYS.includes(keys.readUInt16BE(at))) return false;
  return true;
}

function readAlpn(value: Buffer, into: string[]): boolean {
  for (let at = 0; at < value.length; ) {
    const end = at + 1 + value.readUInt8(at);
    if (end === at + 1 || end > value.length) return false;
    const identifier = value.toString('latin1', at + 1, end);
    if (PRINTABLE.test(identifier)) into.push(identifier);
    at = end;
  }
  return value.length > 0;
}
