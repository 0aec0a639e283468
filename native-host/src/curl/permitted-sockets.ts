/** Opens libcurl's sockets, after a check of the address that each is about to be connected to. */
import { SocketAddress } from 'node:net';
import type { AddressSpace } from '@hopwise/contract';
import koffi from 'koffi';
import { explainRefusal } from '../base/permitted-address.ts';
import { SOCKET_BAD } from './curl-constants.ts';
import type { NativeMemory, Pointer } from './native-memory.ts';

type OpenedSocket = { socket: number } | { socket: typeof SOCKET_BAD; refusal: string };

/**
 * `struct curl_sockaddr`: family, type, protocol and length, then the `struct sockaddr` of that length. The systems' `sockaddr`s
 * differ in their first two bytes only, which hold no part of the address.
 */
const HEADER_BYTES = 16;
const IPV4 = { bytes: 16, at: HEADER_BYTES + 4 };
const IPV6 = { bytes: 28, at: HEADER_BYTES + 8 };

export class PermittedSockets {
  readonly #memory: NativeMemory;
  readonly #open: (family: number, type: number, protocol: number) => number;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  readonly #ipv4 = Buffer.alloc(HEADER_BYTES + IPV4.bytes);
  readonly #ipv6 = Buffer.alloc(HEADER_BYTES + IPV6.bytes);

  constructor(memory: NativeMemory) {
    this.#memory = memory;
    const isWindows = process.platform === 'win32';
    const library = koffi.load(isWindows ? 'ws2_32.dll' : null);
    const result = isWindows ? 'uintptr_t' : 'int';
    this.#open = library.func(`${result} socket(int family, int type, int protocol)`);
  }

  /**
   * For `CURLOPT_OPENSOCKETFUNCTION`, which libcurl calls before each connection attempt, over TCP and over QUIC alike, and
   * whose socket it connects to that address.
   *
   * @param address of a `struct curl_sockaddr`
   */
  open(address: Pointer, from: AddressSpace): OpenedSocket {
    this.#memory.read(address, this.#header);
    const [family, type, protocol, bytes] = [0, 4, 8, 12].map((at) => this.#header.readInt32LE(at));
    const refusal = explainRefusal(this.#read(address, bytes!), from);
    if (refusal !== '') return { socket: SOCKET_BAD, refusal };
    return { socket: Number(this.#open(family!, type!, protocol!)) };
  }

  /** @throws Error for an address of another family than IPv4 and IPv6 */
  #read(address: Pointer, bytes: number): string {
    if (bytes === IPV4.bytes) {
      this.#memory.read(address, this.#ipv4);
      return this.#ipv4.subarray(IPV4.at, IPV4.at + 4).join('.');
    }
    if (bytes !== IPV6.bytes) throw new Error(`an address of ${bytes} bytes from libcurl`);
    this.#memory.read(address, this.#ipv6);
    const groups = Array.from({ length: 8 }, (_, index) =>
      this.#ipv6.readUInt16BE(IPV6.at + 2 * index).toString(16),
    );
    return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
  }
}
