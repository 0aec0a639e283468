import type { Socket } from 'node:net';
import koffi from 'koffi';
import { cLibrary } from '../../src/curl/c-library.ts';

const AF_INET = 2;
const SOCK_STREAM = 1;
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
/** `BPF_RET | BPF_K` with the number of bytes to keep of each packet (linux/filter.h). */
const KEEP_NOTHING = [{ code: 0x06, jt: 0, jf: 0, k: 0 }];

const Instruction = koffi.struct('hopwise_sock_filter', {
  code: 'uint16',
  jt: 'uint8',
  jf: 'uint8',
  k: 'uint32',
});
const Program = koffi.struct('hopwise_sock_fprog', { len: 'uint16', filter: koffi.pointer(Instruction) });

/** Why a connection cannot be deafened here, '' where it can: some kernels let ordinary users attach no packet filter. */
export function deafenObstacle(): string {
  const libc = cLibrary();
  const fd = libc?.func('int socket(int domain, int type, int protocol)')(AF_INET, SOCK_STREAM, 0) as number;
  try {
    attachFilter(fd);
    return '';
  } catch (error) {
    return (error as Error).message;
  } finally {
    libc?.func('int close(int fd)')(fd);
  }
}

/**
 * From now on the kernel drops each packet that comes for a connection before TCP sees it (socket(7)): what the peer sends is
 * not acknowledged, as when the way has broken. Without a namespace, and without rights.
 */
export function deafen(socket: Socket): void {
  attachFilter((socket as unknown as { _handle: { fd: number } })._handle.fd);
}

function attachFilter(fd: number): void {
  const setsockopt = cLibrary()!.func('setsockopt', 'int', [
    'int',
    'int',
    'int',
    koffi.pointer(Program),
    'uint',
  ]);
  const program = { len: KEEP_NOTHING.length, filter: KEEP_NOTHING };
  const code = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, program, koffi.sizeof(Program)) as number;
  if (code !== 0) throw new Error('no packet filter can be attached');
}
