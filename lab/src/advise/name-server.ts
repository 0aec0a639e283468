/** Answers of a name server whose hosts all have an HTTPS record that offers HTTP/3. */
const TYPE_A = 1;
const TYPE_HTTPS = 65;
const CLASS_IN = 1;
const TTL_SECONDS = 300;
/** Header of a message (RFC 1035, section 4.1.1). */
const HEADER_BYTES = 12;
/** A pointer to the name in the question (RFC 1035, section 4.1.4). */
const QUESTION_NAME = 0xc000 | HEADER_BYTES;
/** Priority 1, the host itself, and ALPN's identifiers `h3` and `h2` (RFC 9460, sections 2.2 and 7.1). */
const HTTPS_DATA = Buffer.from([0, 1, 0, 0, 1, 0, 6, 2, 0x68, 0x33, 2, 0x68, 0x32]);

/** The answer to a query with one question; of no records where the host or the type is unknown. Null for what is no query. */
export function answerTo(query: Uint8Array, addresses: Readonly<Record<string, string>>): Buffer | null {
  const asked = Buffer.from(query);
  if (asked.length < HEADER_BYTES || asked.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = asked[at]; length; length = asked[at]) {
    labels.push(asked.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  if (end > asked.length) return null;
  const type = asked.readUInt16BE(at + 1);
  const address = addresses[labels.join('.').toLowerCase()];
  const data =
    address === undefined
      ? null
      : type === TYPE_A
        ? Buffer.from(address.split('.').map(Number))
        : type === TYPE_HTTPS
          ? HTTPS_DATA
          : null;
  const header = Buffer.alloc(HEADER_BYTES);
  asked.copy(header, 0, 0, 2);
  // A response, recursion available.
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(data === null ? 0 : 1, 6);
  const question = asked.subarray(HEADER_BYTES, end);
  if (data === null) return Buffer.concat([header, question]);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(QUESTION_NAME, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(CLASS_IN, 4);
  record.writeUInt32BE(TTL_SECONDS, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([header, question, record, data]);
}
