import { INFO, SOCKET_BAD } from '../curl/curl-constants.ts';
import type { Libcurl, Pointer } from '../curl/libcurl.ts';
import type { TcpInfo } from '../curl/tcp-info.ts';
import type { HeaderField } from './headers.ts';

/** What one exchange showed of the path to its origin, as libcurl and the kernel measured it. */
export interface ExchangeFigures {
  /** From the time that the request went out to the first byte of its response, milliseconds. */
  ttfbMs: number;
  /** From the same time to the last byte of the response, milliseconds. */
  completionMs: number;
  /** Bytes of the response's body. */
  bodyBytes: number;
  /** Whether its connection was open before. */
  isReused: boolean;
  /** Its connection over TCP on Linux, else null: libcurl reports neither round trips nor losses of QUIC. */
  tcp: TcpProgress | null;
}

/** What the engine says of an exchange whose response has arrived completely. */
export interface ExchangeEnd {
  trailers: HeaderField[];
  /** Null unless they were asked for. */
  figures: ExchangeFigures | null;
}

/** A TCP connection since the exchange before on it. */
interface TcpProgress {
  /** Smoothed round trip (RFC 6298), milliseconds; null before the first sample. */
  rttMs: number | null;
  /** Segments with data that were received, and those among them that arrived out of order: behind a loss. */
  segments: number;
  outOfOrder: number;
}

/** Measures exchanges of one engine. */
export class ExchangeMeter {
  readonly #curl: Libcurl;
  readonly #readTcp: (socket: number) => TcpInfo | null;
  /** Counts of connections at the end of their last exchange, by socket number. */
  readonly #seen = new Map<number, Pick<TcpInfo, 'dataSegmentsIn' | 'outOfOrder'>>();

  constructor(curl: Libcurl, readTcp: (socket: number) => TcpInfo | null) {
    this.#curl = curl;
    this.#readTcp = readTcp;
  }

  /** @param easy a transfer that libcurl has finished and that still has its connection */
  measure(easy: Pointer): ExchangeFigures {
    const socket = this.#curl.infoSocket(easy, INFO.ACTIVESOCKET);
    const sentUs = this.#curl.infoOffset(easy, INFO.PRETRANSFER_TIME_T);
    const sinceSentMs = (info: number): number =>
      Math.max(0, this.#curl.infoOffset(easy, info) - sentUs) / 1000;
    return {
      ttfbMs: sinceSentMs(INFO.STARTTRANSFER_TIME_T),
      completionMs: sinceSentMs(INFO.TOTAL_TIME_T),
      bodyBytes: this.#curl.infoOffset(easy, INFO.SIZE_DOWNLOAD_T),
      isReused: this.#curl.infoLong(easy, INFO.NUM_CONNECTS) === 0,
      tcp: socket === SOCKET_BAD ? null : this.#readProgress(socket),
    };
  }

  #readProgress(socket: number): TcpProgress | null {
    const info = this.#readTcp(socket);
    if (info === null) return null;
    const { rttMs, dataSegmentsIn, outOfOrder } = info;
    const before = this.#seen.get(socket);
    this.#seen.set(socket, { dataSegmentsIn, outOfOrder });
    // The system gives the numbers of closed sockets to new ones, whose counts begin at 0.
    const isSame = before !== undefined && before.dataSegmentsIn <= dataSegmentsIn;
    return {
      rttMs,
      segments: dataSegmentsIn - (isSame ? before.dataSegmentsIn : 0),
      outOfOrder: Math.max(0, outOfOrder - (isSame ? before.outOfOrder : 0)),
    };
  }
}
