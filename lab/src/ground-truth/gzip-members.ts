/** A file of gzip members (RFC 1952, section 2.2) to which members are only appended, one at a time. */
import { crc32, gzipSync, inflateRawSync } from 'node:zlib';

/** Header of a member without optional fields, as `gzipMember` makes them. RFC 1952, section 2.3. */
const HEADER_BYTES = 10;
/** CRC-32 and length of the content. */
const TRAILER_BYTES = 8;

/** A member of full length with damaged content, or data that is not a member. */
class DamagedMemberError extends Error {
  override readonly name = 'DamagedMemberError';
}

export const gzipMember = (text: string): Buffer => gzipSync(text);

/**
 * The members' contents, and the number of bytes of `file` that they take: fewer than the file has when the writer was killed
 * within the last member.
 *
 * @throws DamagedMemberError naming the byte at which neither a member nor a truncated last member begins
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

/** The member that starts at `at`; null when the file ends within it. */
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
    // With `info` the result is an object instead of a buffer, as documented; the types lack this.
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
