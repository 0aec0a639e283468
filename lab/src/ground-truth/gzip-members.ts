/** A file of gzip members (RFC 1952, section 2.2) that is only ever appended to, a member at a time. */
import { crc32, gzipSync, inflateRawSync } from 'node:zlib';

/** Of a member without optional fields, as `gzipMember` makes them. RFC 1952, section 2.3. */
const HEADER_BYTES = 10;
/** CRC-32 and length of the content. */
const TRAILER_BYTES = 8;

/** A member that is whole in length but not in content, or something that is no member. */
export class DamagedMemberError extends Error {
  override readonly name = 'DamagedMemberError';
}

export const gzipMember = (text: string): Buffer => gzipSync(text);

/**
 * The members' contents, and how many bytes of `file` they take: less than there are when the writer was killed
 * within the last member.
 *
 * @throws DamagedMemberError naming the byte at which something else than a member or a torn end begins
 */
export function readMembers(file: Buffer): { contents: Buffer[]; wholeBytes: number } {
  const contents: Buffer[] = [];
  let at = 0;
  while (at < file.length) {
    const member = readMember(file, at);
    if (member === null) break;
    contents.push(member.content);
    at = member.end;
  }
  return { contents, wholeBytes: at };
}

/** The member that begins at `at`; null when the file ends within it. */
function readMember(file: Buffer, at: number): { content: Buffer; end: number } | null {
  const rest = file.subarray(at);
  // After a loss of power a file may have its new length but not its new content.
  if (rest.every((byte) => byte === 0)) return null;
  const header = Buffer.from([0x1f, 0x8b, 8, 0]).subarray(0, rest.length);
  if (!rest.subarray(0, header.length).equals(header)) {
    throw new DamagedMemberError(`byte ${at}: expected a gzip member`);
  }
  if (rest.length <= HEADER_BYTES) return null;
  let content: Buffer;
  let end: number;
  try {
    // With `info`, as its documentation says, the answer is not a buffer but an object; the types do not know it.
    const { buffer, engine } = inflateRawSync(rest.subarray(HEADER_BYTES), { info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    content = buffer;
    end = HEADER_BYTES + engine.bytesWritten + TRAILER_BYTES;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR') return null;
    throw new DamagedMemberError(`byte ${at}: ${(error as Error).message}`);
  }
  if (end > rest.length) return null;
  if (rest.readUInt32LE(end - TRAILER_BYTES) !== crc32(content)) {
    throw new DamagedMemberError(`byte ${at}: the content does not match its checksum`);
  }
  return { content, end: at + end };
}
