import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { firstLine } from '@hopwise/contract';
import type { LoadAnswers, LoadRequest, StoredLoad } from '@hopwise/extension/messages';
import { writeDetailedEdition } from '@hopwise/lab/browser/detailed-edition';
import { startFailure } from '@hopwise/lab/browser/start-failure';
import { UserError } from '@hopwise/lab/command/errors';
import type { BrowserLoadOptions } from '@hopwise/lab/loads/measuring-browser';
import { CHROMIUM_ARGS, protocolArgs } from '@hopwise/lab/loads/protocol-args';
import { EXTENSION_DIR, HOST_SCRIPT } from '@hopwise/lab/paths';
import { type BrowserContext, chromium, type Page, type Worker } from 'playwright-core';

export interface SessionOptions {
  /** Chromium, or a script that enters the lab's namespaces and runs it. */
  executablePath: string;
  /** CA that the browser and the native host trust besides their own; null on the live network. */
  ca: { file: string; spki: string; hosts: string[] } | null;
  headed: boolean;
}

const WHO = 'Chromium with the extension';
const WORKER_TIMEOUT_MS = 15_000;
/** The recorder settles for a second or so after the load event. */
const RECORDED_TIMEOUT_MS = 15_000;
const POLL_MS = 100;

/**
 * Chromium in a profile of its own, with the extension loaded and the native host registered for
 * that profile only.
 */
export class ExtensionSession {
  readonly #context: BrowserContext;
  readonly #profile: string;
  readonly #panelUrl: string;
  #panel: Page | null = null;

  private constructor(context: BrowserContext, profile: string, panelUrl: string) {
    this.#context = context;
    this.#profile = profile;
    this.#panelUrl = panelUrl;
  }

  static async open(options: SessionOptions): Promise<ExtensionSession> {
    const profile = await mkdtemp(join(tmpdir(), 'hopwise-profile-'));
    let context: BrowserContext | undefined;
    try {
      await registerHost(profile);
      const extension = await writeDetailedEdition(EXTENSION_DIR, join(profile, 'extension'));
      const launched = chromium.launchPersistentContext(profile, {
        executablePath: options.executablePath,
        headless: false,
        viewport: { width: 1280, height: 800 },
        ignoreDefaultArgs: ['--disable-extensions'],
        args: [
          ...(options.headed ? [] : ['--headless=new']),
          ...CHROMIUM_ARGS,
          `--disable-extensions-except=${extension}`,
          `--load-extension=${extension}`,
          ...(options.ca
            ? [
                ...protocolArgs('natural', options.ca.hosts),
                `--ignore-certificate-errors-spki-list=${options.ca.spki}`,
              ]
            : []),
        ],
        // The native host inherits it: it starts as a child of the browser.
        ...(options.ca
          ? { env: { ...process.env, HOPWISE_CA_FILE: options.ca.file } as Record<string, string> }
          : {}),
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
        timeout: 30_000,
      });
      context = await launched.catch((error) => {
        throw startFailure(error, options.executablePath, WHO);
      });
      const worker = context.serviceWorkers()[0] ?? (await firstWorker(context));
      const session = new ExtensionSession(context, profile, new URL('panel.html', worker.url()).href);
      // An answer means that the worker listens: a load begun before would not be recorded.
      await session.#ask({ type: 'latest' });
      await session.#recordInDetail();
      return session;
    } catch (error) {
      await context?.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
      if (error instanceof UserError) throw error;
      throw new UserError(`${WHO} did not start: ${firstLine(error)}`);
    }
  }

  /** Loads the page as a first visit and returns the extension's recording of it. The load event must come within `timeoutMs`. */
  async observe(
    url: string,
    {
      timeoutMs,
      initScript,
      onLoadEvent,
    }: Pick<BrowserLoadOptions, 'timeoutMs' | 'initScript' | 'onLoadEvent'>,
  ): Promise<StoredLoad> {
    const page = await this.#context.newPage();
    if (initScript !== undefined) await page.addInitScript(initScript);
    try {
      await page.goto(url, { waitUntil: 'load', timeout: timeoutMs });
    } catch (error) {
      throw new UserError(loadFailure(url, error, timeoutMs));
    }
    await onLoadEvent?.();
    const deadline = performance.now() + RECORDED_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const answer = await this.#ask({ type: 'latest', url: page.url() });
      if (!answer.ok) throw new UserError(`the extension could not read its loads: ${answer.error}`);
      if (answer.load) {
        // The page's timers would otherwise keep running during the transfers.
        await page.goto('about:blank');
        return answer.load;
      }
      if (answer.phase === 'failed')
        throw new UserError(`the load of ${url} could not be recorded: ${answer.problem}`);
      await sleep(POLL_MS);
    }
    throw new UserError(
      `the extension recorded no load of ${url} within ${RECORDED_TIMEOUT_MS / 1000} s of its load event`,
    );
  }

  /**
   * Has the native host transfer the page's resources under each protocol.
   *
   * @returns the load with its verification and the prediction made with what it measured
   */
  async verify(
    load: StoredLoad,
    options: { rounds: number; onProgress: (text: string) => void; signal: AbortSignal },
  ): Promise<StoredLoad> {
    const which = { url: load.recording.url };
    const pageBytes = load.recording.requests.reduce(
      (sum, { transferBytes }) => sum + (transferBytes ?? 0),
      0,
    );
    const started = await this.#ask({
      type: 'verify',
      ...which,
      rounds: options.rounds,
      // Three protocols, the action and the browser's own choice, with a margin, so that the budget does not cut the rounds.
      budgetBytes: Math.ceil(1.5 * pageBytes * 5 * options.rounds) + 1_000_000,
    });
    if (!started.ok) throw new UserError(`the verification did not start: ${started.error}`);
    for (;;) {
      options.signal.throwIfAborted();
      const now = await this.#ask({ type: 'verification', ...which });
      if (!now.ok) throw new UserError(`the verification was lost: ${now.error}`);
      if (now.state === 'failed') throw new UserError(`the verification failed: ${now.message}`);
      if (now.state === 'done') break;
      if (now.state === 'running' && now.protocol !== 'starting') {
        options.onProgress(`${now.doneTransfers} of ${now.allTransfers} transfers, ${now.protocol}`);
      }
      await sleep(POLL_MS);
    }
    const answer = await this.#ask({ type: 'latest', ...which });
    if (!answer.ok || !answer.load) throw new UserError('the extension lost the load that was verified');
    return answer.load;
  }

  /** The first load of the page is the one that is reported, so it has to show as much as a load can. */
  async #recordInDetail(): Promise<void> {
    const request = { type: 'change-settings', change: { recordsInDetail: true } };
    const answer = (await this.#panel!.evaluate(
      (message) => chrome.runtime.sendMessage(message),
      request as unknown,
    )) as { ok: boolean; error?: string };
    if (!answer.ok) throw new Error(answer.error);
  }

  async close(): Promise<void> {
    await this.#context.close();
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Asks the extension's worker, from a page of the extension's own. */
  async #ask<T extends LoadRequest>(request: T): Promise<LoadAnswers[T['type']]> {
    if (!this.#panel) {
      this.#panel = await this.#context.newPage();
      await this.#panel.goto(this.#panelUrl);
    }
    return this.#panel.evaluate(
      (message) => chrome.runtime.sendMessage(message),
      request as unknown,
    ) as Promise<LoadAnswers[T['type']]>;
  }
}

async function firstWorker(context: BrowserContext): Promise<Worker> {
  try {
    return await context.waitForEvent('serviceworker', { timeout: WORKER_TIMEOUT_MS });
  } catch {
    throw new Error(
      `its worker was not there after ${WORKER_TIMEOUT_MS / 1000} s; it takes a Chromium that loads unpacked extensions (Chrome itself does not)`,
    );
  }
}

/** Registers the native host for one profile. */
async function registerHost(profile: string): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [HOST_SCRIPT, 'install', '--user-data-dir', profile]);
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`the native host could not be registered: ${firstLine(stderr?.trim() || error)}`);
  }
}

/** Runs inside the extension's page, where Chromium provides it. */
declare const chrome: { runtime: { sendMessage(message: unknown): Promise<unknown> } };

function loadFailure(url: string, error: unknown, timeoutMs: number): string {
  const line = firstLine(error);
  const code = /net::(ERR_\w+)/.exec(line)?.[1];
  if (code)
    return `${url} cannot be loaded: ${code} (${NET_ERROR[code] ?? 'is it reachable from this machine?'})`;
  if (/Timeout/.test(line)) {
    return `${url} did not fire its load event within ${timeoutMs / 1000} s: something it waits for never ends; give it longer with --timeout, or try another page`;
  }
  return `${url} cannot be loaded: ${line}`;
}

const NET_ERROR: Record<string, string> = {
  ERR_NAME_NOT_RESOLVED: 'no such host: look at the spelling, or at the network',
  ERR_CONNECTION_REFUSED: 'nothing listens there',
  ERR_CONNECTION_TIMED_OUT: 'the host does not answer',
  ERR_INTERNET_DISCONNECTED: 'this machine has no network',
  ERR_ADDRESS_UNREACHABLE: 'there is no route to the host',
  ERR_CERT_AUTHORITY_INVALID: 'its certificate is signed by an authority that Chromium does not know',
};
