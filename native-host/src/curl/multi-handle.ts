/** A multi handle of libcurl on Node's event loop: its sockets, its timer, the completion of its transfers. */

import type { Protocol } from '@hopwise/contract';
import {
  MAX_CONCURRENT_STREAMS,
  MAX_CONNECTIONS_PER_HOST,
  MAX_SOCKETS,
} from '@hopwise/contract/browser-limits';
import koffi, { type node } from 'koffi';
import { CSELECT, INFO, MULTI_OPT, PIPE_MULTIPLEX, POLL, SOCKET_TIMEOUT } from './curl-constants.ts';
import type { Libcurl, Pointer } from './libcurl.ts';
import { WriteBackoff } from './write-backoff.ts';

interface MultiHandleSettings {
  curl: Libcurl;
  protocol: Protocol;
  /** libcurl failed: this process must be ended. */
  onFault: (fault: Error) => void;
  /** A socket is about to be read, has been read, or is about to be removed from this handle. */
  onSocket?: (socket: number) => void;
  /** A socket is about to be read because something has arrived on it. */
  onReceived?: ((socket: number) => void) | undefined;
  /** libcurl has processed its events. */
  onActed?: () => void;
}

/** What listens to a transfer in progress, see `add`. */
interface Listener {
  done: (code: number) => void;
  onFinished: (() => void) | undefined;
}

interface Poll {
  handle: node.PollHandle;
  onReady: (...args: unknown[]) => void;
  /** `CURL_POLL_*`. */
  wanted: number;
  backoff: WriteBackoff;
}

/**
 * By socket number, the multi handle with a poll handle for it. An inactive poll handle keeps the number of a closed socket, and
 * closing it would end libuv's poll of a new socket with the same number, even one of another multi handle.
 */
const holders = new Map<number, MultiHandle>();

/**
 * A multi handle for one protocol. In a shared one libcurl lets HTTP/2 transfers reuse HTTP/1.1
 * connections. Its connections live as long as it does: a new one starts cold.
 */
export class MultiHandle {
  readonly #settings: MultiHandleSettings;
  readonly #curl: Libcurl;
  readonly #multi: Pointer;
  readonly #transfers = new Map<Pointer, Listener>();
  readonly #polls = new Map<number, Poll>();
  readonly #callbacks: Pointer[];
  #reading = true;
  #timer: NodeJS.Timeout | null = null;
  #soon: NodeJS.Immediate | null = null;
  #closed = false;

  constructor(settings: MultiHandleSettings) {
    this.#settings = settings;
    const { curl, onFault } = settings;
    this.#curl = curl;
    const onSocket = curl.callback('socket', onFault, (_easy, socket, what) =>
      this.#onSocket(Number(socket), what),
    );
    const onTimer = curl.callback('timer', onFault, (_multi, timeoutMs) => this.#onTimer(Number(timeoutMs)));
    this.#callbacks = [onSocket, onTimer];
    this.#multi = curl.multiInit();
    curl.multiSetPointer(this.#multi, MULTI_OPT.SOCKETFUNCTION, onSocket);
    curl.multiSetPointer(this.#multi, MULTI_OPT.TIMERFUNCTION, onTimer);
    curl.multiSetLong(this.#multi, MULTI_OPT.PIPELINING, PIPE_MULTIPLEX);
    // A page with thousands of origins must not use up the process's sockets, nor its threads, one for each name lookup.
    curl.multiSetLong(this.#multi, MULTI_OPT.MAX_TOTAL_CONNECTIONS, MAX_SOCKETS);
    // Idle connections are kept up to the same number, so that none is closed early.
    curl.multiSetLong(this.#multi, MULTI_OPT.MAXCONNECTS, MAX_SOCKETS);
    curl.multiSetLong(this.#multi, MULTI_OPT.MAX_CONCURRENT_STREAMS, MAX_CONCURRENT_STREAMS);
    curl.multiSetLong(
      this.#multi,
      MULTI_OPT.MAX_HOST_CONNECTIONS,
      settings.protocol === 'h1' ? MAX_CONNECTIONS_PER_HOST : 1,
    );
  }

  /**
   * Starts a transfer.
   *
   * @param done called once, from the event loop, unless the transfer is removed or the handle is
   *   closed before. The transfer has been removed by then; its figures can still be read, but for its socket.
   * @param onFinished called before that, while the transfer has its connection
   * @throws Error when libcurl refuses it.
   */
  add(easy: Pointer, done: (code: number) => void, onFinished?: () => void): void {
    this.#curl.multiAdd(this.#multi, easy);
    this.#transfers.set(easy, { done, onFinished });
  }

  /** Ends a transfer. Never from a callback of libcurl. */
  remove(easy: Pointer): void {
    if (this.#transfers.delete(easy)) this.#curl.multiRemove(this.#multi, easy);
  }

  /** Runs libcurl's due work without waiting for the timer. Never from a callback of libcurl. */
  runDue(): void {
    this.#act(SOCKET_TIMEOUT, 0);
  }

  /** Sockets with a transfer in progress: those that libcurl waits for. */
  get sockets(): number[] {
    return [...this.#polls].flatMap(([socket, { wanted }]) => (wanted === POLL.NONE ? [] : [socket]));
  }

  /** Runs the work that libcurl has deferred to the end of this turn. Never from a callback of libcurl. */
  runDeferred(): void {
    if (!this.#soon) return;
    clearImmediate(this.#soon);
    this.#soon = null;
    this.#act(SOCKET_TIMEOUT, 0);
  }

  /** Stops or resumes reading of all sockets, and so of all transfers. */
  setReading(reading: boolean): void {
    if (reading === this.#reading) return;
    this.#reading = reading;
    for (const poll of this.#polls.values()) this.#poll(poll);
  }

  /** Has libcurl read each readable socket once. Never from a callback of libcurl. */
  readOnce(): void {
    for (const [socket, { wanted }] of [...this.#polls]) {
      if ((wanted & POLL.IN) !== 0) this.#act(socket, CSELECT.IN);
    }
  }

  /** Ends every transfer, without calling its `done`, and every connection. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const [socket, { wanted }] of this.#polls) {
      if (wanted !== POLL.NONE) this.#settings.onSocket?.(socket);
    }
    this.#disarm();
    // libuv must stop polling a socket before libcurl closes it.
    for (const socket of [...this.#polls.keys()]) this.#forget(socket);
    for (const easy of [...this.#transfers.keys()]) this.remove(easy);
    this.#curl.multiCleanup(this.#multi);
    for (const callback of this.#callbacks) this.#curl.freeCallback(callback);
  }

  #onSocket(socket: number, what: number): number {
    if (this.#closed) return 0;
    const poll = this.#polls.get(socket);
    if (what === POLL.REMOVE) {
      this.#settings.onSocket?.(socket);
      this.#leave(socket);
    } else if (poll) {
      poll.wanted = what;
      this.#poll(poll);
    } else {
      const former = holders.get(socket);
      if (former) former.#forget(socket);
      this.#open(socket, what);
    }
    return 0;
  }

  #open(socket: number, wanted: number): void {
    const onReady = this.#whenReady(socket);
    const backoff = new WriteBackoff(() => this.#poll(poll));
    const events = {
      readable: this.#reading && (wanted & POLL.IN) !== 0,
      writable: (wanted & POLL.OUT) !== 0,
    };
    const poll = { handle: koffi.node.poll(socket, events, onReady), onReady, wanted, backoff };
    this.#polls.set(socket, poll);
    holders.set(socket, this);
  }

  #forget(socket: number): void {
    const poll = this.#polls.get(socket);
    poll?.backoff.stop();
    poll?.handle.close();
    this.#polls.delete(socket);
    holders.delete(socket);
  }

  /**
   * libcurl stops polling a connection between two requests, and when it closes it. An inactive poll handle refers to its socket by
   * number only, and can be reused for the next socket with that number; on Windows it holds more state.
   */
  #leave(socket: number): void {
    const poll = this.#polls.get(socket);
    if (!poll) return;
    if (process.platform === 'win32') this.#forget(socket);
    else {
      poll.wanted = POLL.NONE;
      poll.backoff.stop();
      poll.handle.stop();
    }
  }

  #poll({ handle, onReady, wanted, backoff }: Poll): void {
    const readable = this.#reading && (wanted & POLL.IN) !== 0;
    const writable = !backoff.isDelaying && (wanted & POLL.OUT) !== 0;
    if (readable || writable) handle.start({ readable, writable }, onReady);
    else handle.stop();
  }

  #whenReady(socket: number): (...args: unknown[]) => void {
    return (...args) => this.#onReady(socket, args[0] as number, args[1] as node.PollEvents);
  }

  #onReady(socket: number, status: number, events: node.PollEvents): void {
    if (this.#closed) return;
    if (events.readable) {
      this.#settings.onSocket?.(socket);
      this.#settings.onReceived?.(socket);
    }
    let flags = 0;
    if (status < 0) flags = CSELECT.ERR;
    if (events.readable) flags |= CSELECT.IN;
    if (events.writable) flags |= CSELECT.OUT;
    this.#act(socket, flags);
    this.#backOff(socket, events);
    // What arrived while libcurl was reading has been read as well and wakes this process no more.
    if (events.readable && !this.#closed && this.#polls.has(socket)) this.#settings.onSocket?.(socket);
  }

  #backOff(socket: number, events: node.PollEvents): void {
    const poll = this.#polls.get(socket);
    if (this.#closed || !poll) return;
    const { backoff } = poll;
    const wasDelaying = backoff.isDelaying;
    if (events.readable) backoff.restart();
    else if (events.writable) backoff.onWritable(this.#uploadedBytes());
    if (backoff.isDelaying !== wasDelaying) this.#poll(poll);
  }

  #uploadedBytes(): number {
    let bytes = 0;
    for (const easy of this.#transfers.keys()) bytes += this.#curl.infoOffset(easy, INFO.SIZE_UPLOAD_T);
    return bytes;
  }

  #disarm(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#soon) clearImmediate(this.#soon);
    this.#timer = null;
    this.#soon = null;
  }

  #onTimer(timeoutMs: number): number {
    this.#disarm();
    if (this.#closed || timeoutMs < 0) return 0;
    // libcurl must not be entered again from its own callback, not even for a timeout of 0.
    if (timeoutMs === 0) this.#soon = setImmediate(() => this.#act(SOCKET_TIMEOUT, 0));
    else this.#timer = setTimeout(() => this.#act(SOCKET_TIMEOUT, 0), timeoutMs);
    return 0;
  }

  #act(socket: number, flags: number): void {
    if (this.#closed) return;
    try {
      const running = this.#curl.socketAction(this.#multi, socket, flags);
      if (running < this.#transfers.size) this.#collect();
      if (!this.#closed) this.#settings.onActed?.();
    } catch (fault) {
      this.#settings.onFault(fault as Error);
    }
  }

  #collect(): void {
    let more = true;
    while (more && !this.#closed) {
      const finished = this.#curl.nextFinished(this.#multi);
      if (!finished) return;
      const transfer = this.#transfers.get(finished.easy);
      if (!transfer) throw new Error('libcurl finished a transfer that was never started');
      more = finished.left > 0;
      transfer.onFinished?.();
      this.remove(finished.easy);
      transfer.done(finished.code);
    }
  }
}
