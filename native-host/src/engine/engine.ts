/** The host's side of the engine: finds a libcurl, starts the engine's process and runs rounds and exchanges in it. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { url as inspectorUrl } from 'node:inspector';
import { isAbsolute } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { compiledCodeSettings } from '../base/compiled-code.ts';
import { http3InstallHint } from '../base/install-hints.ts';
import { HEAP_ARGUMENTS, MALLOC_SETTINGS } from '../base/memory-settings.ts';
import { readDohUrl } from '../base/settings.ts';
import { caFile } from '../curl/ca-file.ts';
import { type LibcurlCandidate, libcurlCandidates } from '../curl/candidates.ts';
import type { NameChecks } from '../curl/easy-options.ts';
import { putRememberedFirst, rememberLibrary } from '../curl/remembered-library.ts';
import { CreditPool } from '../exchange/credit-pool.ts';
import type { Exchange, ExchangeRequest } from '../exchange/exchange.ts';
import { ExchangeClient } from '../exchange/exchange-client.ts';
import { HUNG_AFTER_MS } from '../exchange/hung-connections.ts';
import { RunningExchange } from '../exchange/running-exchange.ts';
import { SentMarks } from '../exchange/sent-marks.ts';
import type { RoundReport, RoundRequest, RoundTransferResult } from '../rounds/round.ts';
import { type ChildMessage, type EngineInfo, EXCHANGE_PIPE, type HostMessage } from './ipc.ts';
import { observeProcess } from './process-activity.ts';
import { StuckWatch } from './stuck-watch.ts';

export type { EngineInfo } from './ipc.ts';

/** There is no usable libcurl. The message says how to get one. */
export class NoEngineError extends Error {}

/** The engine's process ended in the middle of a round. The next round gets a new one. */
export class EngineDiedError extends Error {}

export interface EngineOptions {
  /** Path of the libcurl to use; else `HOPWISE_LIBCURL`, else one is looked for. */
  libcurl?: string;
  /** Whether the libcurl that was found last is tried first; see `putRememberedFirst`. */
  remembersLibrary?: boolean;
  /** How long the peer of an exchange's TCP connection may leave sent data unacknowledged, milliseconds. */
  hungAfterMs?: number;
  /** How long a busy engine process, or a guarded host, may not respond before it is ended, milliseconds. */
  stuckAfterMs?: number;
  log?: (line: string) => void;
}

export interface RunOptions {
  onResult?: (result: RoundTransferResult) => void;
  /** Ends the round at once; its report has `ended: 'cancelled'`. */
  signal?: AbortSignal;
}

/** The report of a round that was cancelled before it began. */
const NOTHING_DONE: RoundReport = {
  results: [],
  bytes: 0,
  connections: [],
  ended: 'cancelled',
};

interface Running {
  process: ChildProcess;
  info: EngineInfo;
  candidate: LibcurlCandidate;
  exchanges: ExchangeClient;
  /** Ends the process because it no longer responds. */
  endStuck: () => void;
}

interface Pending {
  onResult: (result: RoundTransferResult) => void;
  resolve: (report: RoundReport) => void;
  reject: (fault: Error) => void;
}

// Node 24 can run the sources; the build runs on every supported Node.
const CHILD = new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './child.js', import.meta.url);
/** A busy machine takes many seconds, and a library that is given up lifts pins. Connections of new pins are tunnelled meanwhile. */
const START_TIMEOUT_MS = 30_000;

/** Pages wait that long for a process that hangs; it is more than any single operation takes, see `StuckWatch` for busy machines. */
const STUCK_AFTER_MS = 2_000;

/** An engine that guards the host and has ended is replaced after this time. */
const RESTART_DELAY_MS = 1_000;

const ENDED = 'the transfer engine has ended';
const STUCK = 'the helper’s transfer engine stopped responding';

/** More than browsers hold open, and few enough for the memory of as many minimum windows. */
const MAX_OPEN_EXCHANGES = 2048;

/** One line about a libcurl, such as `libcurl/8.14.1 GnuTLS/3.7.9 nghttp2/1.52.0 ngtcp2/1.11.0`. */
export function engineLine(info: EngineInfo): string {
  return [`libcurl/${info.version}`, info.tls, info.nghttp2 && `nghttp2/${info.nghttp2}`, info.quic]
    .filter(Boolean)
    .join(' ')
    .slice(0, 256);
}

/** What a libcurl lacks, with the fix; '' for nothing. */
export function engineProblem(info: EngineInfo): string {
  if (!info.http2) return `libcurl ${info.version} (${info.path}) has no HTTP/2: ${http3InstallHint()}`;
  if (!info.http3) return `libcurl ${info.version} (${info.path}) has no HTTP/3: ${http3InstallHint()}`;
  return '';
}

export class Engine {
  readonly #given: string;
  readonly #remembersLibrary: boolean;
  readonly #hungAfterMs: number;
  readonly #stuckAfterMs: number;
  readonly #log: (line: string) => void;
  readonly #pending = new Map<number, Pending>();
  readonly #credit = new CreditPool();
  #openExchanges = 0;
  #starting: Promise<Running> | null = null;
  /** From its start to its end. */
  #current: Running | null = null;
  #found: LibcurlCandidate | null = null;
  #nextId = 1;
  #isGuarding = false;
  #closed = false;

  constructor(options: EngineOptions = {}) {
    this.#given = options.libcurl || process.env.HOPWISE_LIBCURL || '';
    this.#remembersLibrary = options.remembersLibrary === true && this.#given === '';
    this.#hungAfterMs = options.hungAfterMs ?? HUNG_AFTER_MS;
    this.#stuckAfterMs = options.stuckAfterMs ?? STUCK_AFTER_MS;
    this.#log = options.log ?? (() => {});
  }

  /**
   * Starts the process unless it runs.
   *
   * @throws NoEngineError
   */
  async start(): Promise<EngineInfo> {
    return (await this.#running()).info;
  }

  /**
   * Has the engine's process end this one when it hangs: browsers then load pages without it. From now on the engine's process runs
   * all the time, if there is a usable libcurl.
   */
  guardHost(): void {
    // A debugger stops this process for longer.
    if (this.#isGuarding || inspectorUrl() !== undefined) return;
    this.#isGuarding = true;
    if (this.#current) this.#send(this.#current, { type: 'guard' });
    else this.#startQuietly();
  }

  /** Process id of the engine; null while it does not run. */
  async pid(): Promise<number | null> {
    return this.#starting ? ((await this.#starting).process.pid ?? null) : null;
  }

  /**
   * Runs one round.
   *
   * @throws NoEngineError, EngineDiedError
   */
  async run(request: RoundRequest, options: RunOptions = {}): Promise<RoundReport> {
    const running = await this.#running();
    const id = this.#nextId++;
    const cancel = (): void => this.#send(running, { type: 'cancel', id });
    if (options.signal?.aborted) return NOTHING_DONE;
    try {
      return await new Promise<RoundReport>((resolve, reject) => {
        this.#pending.set(id, { onResult: options.onResult ?? (() => {}), resolve, reject });
        this.#send(running, { type: 'run', id, request });
        options.signal?.addEventListener('abort', cancel, { once: true });
      });
    } finally {
      options.signal?.removeEventListener('abort', cancel);
    }
  }

  /**
   * Sends one HTTP request over the protocol that it names, on persistent connections. It never throws:
   * failures are an `ExchangeError` of the exchange.
   */
  exchange(request: ExchangeRequest): Exchange {
    const exchange = new RunningExchange(request, this.#credit.account(), () => {
      this.#openExchanges -= 1;
    });
    this.#openExchanges += 1;
    if (this.#openExchanges > MAX_OPEN_EXCHANGES) {
      exchange.fail('refused-locally', `more than ${MAX_OPEN_EXCHANGES} exchanges at once`, false);
      return exchange;
    }
    if (this.#current && !this.#closed) begin(this.#current, exchange, request);
    else {
      this.#running().then(
        (running) => begin(running, exchange, request),
        (fault: Error) => exchange.fail('engine-died', fault.message, false),
      );
    }
    return exchange;
  }

  /**
   * Has the connections of exchanges with an origin closed as soon as they are idle.
   *
   * @param origin as in `URL.origin`
   * @param partition whose connections are meant; null for all
   */
  release(origin: string, partition: string | null): void {
    this.#current?.exchanges.release({ origin: `${origin}/`, partition });
  }

  /** Ends the process; rounds and exchanges in progress fail. */
  async close(): Promise<void> {
    this.#closed = true;
    const running = await this.#starting?.catch(() => null);
    if (running) await ended(running.process);
  }

  #send(running: Running, message: HostMessage): void {
    // A failure to send means that the process has ended, which its 'exit' reports.
    if (running.process.connected) running.process.send(message, () => {});
  }

  #running(): Promise<Running> {
    if (this.#closed) return Promise.reject(new NoEngineError('the engine was closed'));
    if (!this.#starting) {
      const starting = this.#find();
      this.#starting = starting;
      starting.catch(() => {
        if (this.#starting === starting) this.#starting = null;
      });
    }
    return this.#starting;
  }

  /** Without a usable libcurl nothing guards the host. Requests for transfers report the reason. */
  #startQuietly(): void {
    this.#running().catch(() => {});
  }

  async #find(): Promise<Running> {
    const names: NameChecks = { caFile: caFile(), dohUrl: readDohUrl() };
    const problems: string[] = [];
    let withoutHttp3: Running | null = null;
    // An update removes the former private copy.
    if (this.#found && isAbsolute(this.#found.path) && !existsSync(this.#found.path)) this.#found = null;
    for (const candidate of this.#found ? [this.#found] : this.#listCandidates()) {
      const outcome = await this.#launch(candidate, names);
      if (typeof outcome === 'string') {
        problems.push(`${candidate.path}: ${outcome}`);
        continue;
      }
      if (outcome.info.http3 || this.#given || this.#found) {
        if (withoutHttp3) await ended(withoutHttp3.process);
        if (outcome.info.http3 && this.#remembersLibrary) rememberLibrary(candidate);
        return this.#adopt(outcome);
      }
      if (withoutHttp3) await ended(outcome.process);
      else withoutHttp3 = outcome;
    }
    if (withoutHttp3) return this.#adopt(withoutHttp3);
    throw new NoEngineError(
      this.#given
        ? `no usable libcurl: ${problems.join('; ')}`
        : `no libcurl with HTTP/3: ${http3InstallHint()}`,
    );
  }

  #listCandidates(): readonly LibcurlCandidate[] {
    const candidates = libcurlCandidates(this.#given);
    return this.#remembersLibrary ? putRememberedFirst(candidates) : candidates;
  }

  #adopt(running: Running): Running {
    const { process: child } = running;
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new NoEngineError('the transfer engine ended as soon as it had started');
    }
    this.#found = running.candidate;
    this.#current = running;
    const watch = new StuckWatch({
      limitMs: this.#stuckAfterMs,
      isBusy: () => this.#isGuarding || this.#openExchanges > 0 || this.#pending.size > 0,
      ask: () => this.#send(running, { type: 'alive' }),
      observe: observeProcess(child.pid!),
      onStuck: () => {
        this.#log(`engine process has not answered for ${this.#stuckAfterMs} ms`);
        running.endStuck();
      },
    });
    if (this.#isGuarding) this.#send(running, { type: 'guard' });
    child.on('message', (message: ChildMessage) => {
      watch.noteAnswer();
      this.#onMessage(message);
    });
    child.once('exit', (code, signal) => {
      watch.stop();
      this.#starting = null;
      this.#current = null;
      const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
      if (!this.#closed) this.#log(`engine process ${how}`);
      for (const pending of this.#pending.values()) {
        pending.reject(new EngineDiedError(`the transfer engine ${how}; the next probe starts a new one`));
      }
      this.#pending.clear();
      if (this.#isGuarding && !this.#closed) setTimeout(() => this.#startQuietly(), RESTART_DELAY_MS).unref();
    });
    this.#log(`engine ${engineLine(running.info)} from ${running.info.path}`);
    return running;
  }

  #onMessage(message: ChildMessage): void {
    if (message.type === 'fault') {
      this.#log(`engine fault: ${message.problem}`);
      return;
    }
    if (message.type !== 'result' && message.type !== 'report') return;
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    if (message.type === 'result') pending.onResult(message.result);
    else {
      this.#pending.delete(message.id);
      pending.resolve(message.report);
    }
  }

  /** @returns the started process, or why it did not start. */
  #launch(candidate: LibcurlCandidate, { caFile: bundle, dohUrl }: NameChecks): Promise<Running | string> {
    const env: NodeJS.ProcessEnv = { ...process.env, ...MALLOC_SETTINGS, ...compiledCodeSettings() };
    if (candidate.libraryFolder) {
      env.LD_LIBRARY_PATH = [candidate.libraryFolder, env.LD_LIBRARY_PATH].filter(Boolean).join(':');
    }
    let marks: SentMarks;
    try {
      marks = new SentMarks(MAX_OPEN_EXCHANGES);
    } catch (fault) {
      return Promise.resolve(`no file for marks: ${(fault as Error).message}`);
    }
    const words = [candidate.path, bundle, String(this.#hungAfterMs), String(this.#stuckAfterMs), dohUrl];
    const child = fork(fileURLToPath(CHILD), words, {
      env,
      execArgv: [...HEAP_ARGUMENTS, ...(CHILD.pathname.endsWith('.ts') ? ['--conditions=source'] : [])],
      // Standard output belongs to native messaging: the engine does not inherit it.
      // The positions are the descriptors in ipc.ts.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe', marks.fd],
    });
    const pipes: readonly unknown[] = child.stdio;
    const exchanges = new ExchangeClient(pipes[EXCHANGE_PIPE] as Duplex, marks, (fault) => {
      this.#log(`engine process: ${fault.message}`);
      child.kill('SIGKILL');
    });
    // After 'exit': everything that the process has written has been read by then.
    let reason = ENDED;
    child.once('close', () => exchanges.close(reason));
    const endStuck = (): void => {
      reason = STUCK;
      child.kill('SIGKILL');
    };
    child.stderr!.setEncoding('utf8');
    let errors = '';
    child.stderr!.on('data', (chunk: string) => {
      errors = (errors + chunk).slice(-2000);
      for (const line of chunk.split('\n')) if (line.trim()) this.#log(`engine: ${line.slice(0, 500)}`);
    });
    return new Promise((resolve) => {
      const settle = (outcome: Running | string): void => {
        clearTimeout(timer);
        child.removeAllListeners('message');
        child.removeAllListeners('exit');
        child.removeAllListeners('error');
        child.on('error', (fault) => this.#log(`engine process: ${fault.message}`));
        if (typeof outcome === 'string' && child.exitCode === null) child.kill('SIGKILL');
        resolve(outcome);
      };
      const timer = setTimeout(
        () => settle(`did not start within ${START_TIMEOUT_MS / 1000} s`),
        START_TIMEOUT_MS,
      );
      child.once('message', (message: ChildMessage) => {
        if (message.type === 'ready')
          settle({ process: child, info: message.info, candidate, exchanges, endStuck });
        else settle(message.type === 'unusable' ? message.problem : 'sent an unexpected message');
      });
      child.once('error', (fault) => settle(fault.message));
      child.once('exit', (code, signal) => {
        settle(
          `its process ended (${signal ?? `code ${code}`}) ${errors.trim().split('\n').at(-1) ?? ''}`.trim(),
        );
      });
    });
  }
}

function begin({ info, exchanges }: Running, exchange: RunningExchange, { protocol }: ExchangeRequest): void {
  if (protocol === 'h3' && !info.http3) exchange.fail('refused-locally', engineProblem(info), false);
  else exchanges.start(exchange);
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
