import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIREFOX_EXTENSION_ID } from '@hopwise/contract';
import type { PageAnswers, PageRequest } from '../../src/background/page-requests.ts';
import { Bidi } from './bidi.ts';

/** The extension's UUID, which is the host of its own pages and otherwise random. */
const OWN = '11111111-2222-4333-8444-555555555555';

/** Path of Firefox: `HOPWISE_FIREFOX`, otherwise Debian's; null if there is none. */
export function firefoxPath(): string | null {
  const named = process.env.HOPWISE_FIREFOX;
  const paths = named ? [named] : ['/usr/bin/firefox-esr', '/usr/bin/firefox'];
  return paths.find((path) => existsSync(path)) ?? null;
}

/** Code points of keys in WebDriver (https://www.w3.org/TR/webdriver2/#keyboard-actions), by `KeyboardEvent.key`. */
const KEYS: Record<string, string> = {
  Tab: '\uE004',
  Enter: '\uE007',
  Escape: '\uE00C',
  ArrowRight: '\uE014',
};

export class FirefoxTab {
  readonly #bidi: Bidi;
  readonly context: string;

  constructor(bidi: Bidi, context: string) {
    this.#bidi = bidi;
    this.context = context;
  }

  async goto(url: string): Promise<void> {
    await this.#bidi.send('browsingContext.navigate', { context: this.context, url, wait: 'complete' });
  }

  async reload(): Promise<void> {
    await this.#bidi.send('browsingContext.reload', { context: this.context, wait: 'complete' });
  }

  /** Clicks the middle of the element that the selector matches. */
  async click(selector: string): Promise<void> {
    const [x, y] = await this.evaluate((selector) => {
      const found = document.querySelector(selector)!;
      found.scrollIntoView({ block: 'center' });
      const { left, top, width, height } = found.getBoundingClientRect();
      return [Math.round(left + width / 2), Math.round(top + height / 2)] as const;
    }, selector);
    const mouse = [
      { type: 'pointerMove', x, y },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    await this.#bidi.send('input.performActions', {
      context: this.context,
      actions: [{ type: 'pointer', id: 'mouse', actions: mouse }],
    });
  }

  /** @param key as in `KeyboardEvent.key` */
  async press(key: string): Promise<void> {
    const value = KEYS[key] ?? key;
    const actions = [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ];
    await this.#bidi.send('input.performActions', {
      context: this.context,
      actions: [{ type: 'key', id: 'keyboard', actions }],
    });
  }

  /** Sets the size of the page in CSS pixels. */
  async resize(width: number, height: number): Promise<void> {
    await this.#bidi.send('browsingContext.setViewport', {
      context: this.context,
      viewport: { width, height },
    });
  }

  /** Runs a script in every document of the tab before those of the page. */
  async addInitScript(script: string): Promise<void> {
    await this.#bidi.send('script.addPreloadScript', {
      functionDeclaration: `() => { ${script} }`,
      contexts: [this.context],
    });
  }

  async close(): Promise<void> {
    await this.#bidi.send('browsingContext.close', { context: this.context });
  }

  /** Runs a script in the page, past its content security policy. */
  async run(script: string): Promise<void> {
    const { exceptionDetails } = await this.#bidi.send<{ exceptionDetails?: { text: string } }>(
      'script.evaluate',
      { expression: script, target: { context: this.context }, awaitPromise: false },
    );
    if (exceptionDetails) throw new Error(exceptionDetails.text);
  }

  /** Runs a function in the page; arguments and result as in JSON. */
  async evaluate<A extends unknown[], R>(what: (...args: A) => R | Promise<R>, ...args: A): Promise<R> {
    const { result, exceptionDetails } = await this.#bidi.send<{
      result?: { value?: string };
      exceptionDetails?: { text: string };
    }>('script.callFunction', {
      functionDeclaration: `async (json) => JSON.stringify(await (${what})(...JSON.parse(json)))`,
      arguments: [{ type: 'string', value: JSON.stringify(args) }],
      target: { context: this.context },
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return (result?.value === undefined ? undefined : JSON.parse(result.value)) as R;
  }
}

/** Time for the browser to end by itself. */
const CLOSE_LIMIT_MS = 15_000;

/** The parts of Firefox's own window in use. */
interface Window {
  OpenBrowserWindow(options: { private: boolean }): unknown;
  Services: {
    prefs: { setIntPref(name: string, value: number): void; setBoolPref(name: string, value: boolean): void };
    obs: Record<'addObserver' | 'removeObserver', (heard: () => void, topic: string) => void> & {
      notifyObservers(subject: null, topic: string): void;
    };
  };
}

interface ProfileOptions {
  prefs?: Record<string, string | number | boolean>;
  /** PEM files of CAs that the profile trusts. */
  trusted: string[];
}

/** Real Firefox, with the extension or without, in its own profile. */
export class FirefoxBrowser {
  readonly #process: ChildProcess;
  readonly #bidi: Bidi;

  private constructor(process: ChildProcess, bidi: Bidi) {
    this.#process = process;
    this.#bidi = bidi;
  }

  /**
   * @param home the test's own folder, in which `makeProfile` created a profile
   * @param env added to this process's environment; the browser passes it on to native hosts
   * @param options.program what starts Firefox, in place of itself
   * @param options.port at which this process reaches it; one that is free unless given
   */
  static async launch(
    extensionDir: string | null,
    home: string,
    env: Record<string, string>,
    { program = firefoxPath()!, port = 0 }: { program?: string; port?: number } = {},
  ): Promise<FirefoxBrowser> {
    const child = spawn(
      program,
      [
        ...['--headless', '--new-instance', '--profile', profileIn(home), `--remote-debugging-port=${port}`],
        // Without this WebDriver may not open the extension's own pages.
        '--remote-allow-system-access',
      ],
      { env: { ...process.env, ...env, HOME: home }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const bidi = await Bidi.connect(`${await listeningAt(child)}/session`);
    await bidi.send('session.new', { capabilities: {} });
    if (extensionDir) {
      await bidi.send('webExtension.install', { extensionData: { type: 'path', path: extensionDir } });
    }
    return new FirefoxBrowser(child, bidi);
  }

  /** Id of its first process. */
  get pid(): number {
    return this.#process.pid!;
  }

  open(url: string): Promise<FirefoxTab> {
    return this.#open(url);
  }

  async #open(url: string, where?: { referenceContext: string; background: boolean }): Promise<FirefoxTab> {
    const { context } = await this.#bidi.send<{ context: string }>('browsingContext.create', {
      type: 'tab',
      ...where,
    });
    const tab = new FirefoxTab(this.#bidi, context);
    await tab.goto(url);
    return tab;
  }

  /** A page of the extension, such as `popup.html?tabId=1`. */
  openOwn(path: string): Promise<FirefoxTab> {
    return this.open(`moz-extension://${OWN}/${path}`);
  }

  /** Sends a message to the worker from a page of the extension, and again where no worker received it, as `createSender` does. */
  ask<T extends PageRequest>(page: FirefoxTab, request: T): Promise<PageAnswers[T['type']]> {
    return page.evaluate(async (message) => {
      for (let tries = 1; ; tries++) {
        try {
          return await chrome.runtime.sendMessage(message);
        } catch (error) {
          if (tries === 20 || !String(error).includes('Receiving end does not exist')) throw error;
          await new Promise((resolve) => setTimeout(resolve, 250));
        }
      }
    }, request as PageRequest);
  }

  /** A tab in a new private window. */
  async openPrivate(url: string): Promise<FirefoxTab> {
    const before = await this.#contexts();
    await (await this.#window()).evaluate(async () => {
      const { OpenBrowserWindow, Services } = globalThis as unknown as Window;
      const topic = 'browser-delayed-startup-finished';
      await new Promise<void>((resolve) => {
        const heard = () => {
          Services.obs.removeObserver(heard, topic);
          resolve();
        };
        Services.obs.addObserver(heard, topic);
        OpenBrowserWindow({ private: true });
      });
    });
    const first = (await this.#contexts()).find((one) => !before.includes(one));
    // In a new background tab. The first tab is still loading its welcome page; and for a foreground tab WebDriver waits until
    // the previous one is hidden and the window active, which never ends if it misses these events.
    return this.#open(url, { referenceContext: first!, background: true });
  }

  async setPref(name: string, value: number | boolean): Promise<void> {
    await (await this.#window()).evaluate(
      (name, value) => {
        const { prefs } = (globalThis as unknown as Window).Services;
        if (typeof value === 'number') prefs.setIntPref(name, value);
        else prefs.setBoolPref(name, value);
      },
      name,
      value,
    );
  }

  /** Closes all connections once nothing is transferred over them. */
  async closeConnections(): Promise<void> {
    await (await this.#window()).evaluate(() => {
      (globalThis as unknown as Window).Services.obs.notifyObservers(null, 'net:prune-all-connections');
    });
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    // It may end before it answers, and does not end by itself where it hangs.
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), CLOSE_LIMIT_MS);
    await this.#bidi.send('browser.close').catch(() => undefined);
    await ended;
    clearTimeout(timer);
  }

  /** Runs code in the browser's own window, with chrome privileges. */
  async #window(): Promise<FirefoxTab> {
    const [context] = await this.#contexts('chrome');
    return new FirefoxTab(this.#bidi, context!);
  }

  async #contexts(scope: 'content' | 'chrome' = 'content'): Promise<string[]> {
    const tree = await this.#bidi.send<{ contexts: { context: string }[] }>('browsingContext.getTree', {
      'moz:scope': scope,
    });
    return tree.contexts.map(({ context }) => context);
  }
}

/** Grants the permissions that pins need by a click, for which Firefox asks, on a page of the extension. */
export async function allowPins(own: FirefoxTab): Promise<void> {
  await own.evaluate(() => {
    document.body.innerHTML = '<button>Allow pins</button>';
    document.querySelector('button')!.onclick = () =>
      void chrome.permissions.request({ permissions: ['proxy'] }).then(() => {
        document.title = 'allowed';
      });
  });
  await own.click('button');
  while ((await own.evaluate(() => document.title)) !== 'allowed')
    await new Promise((resolve) => setTimeout(resolve, 20));
}

function profileIn(home: string): string {
  return join(home, 'profile');
}

/** Creates a profile in this home folder. @returns its path */
export function makeProfile(home: string, { prefs = {}, trusted }: ProfileOptions): string {
  const profile = profileIn(home);
  mkdirSync(profile, { recursive: true });
  writeFileSync(join(profile, 'user.js'), userPrefs(prefs));
  const store = ['-d', `sql:${profile}`];
  execFileSync('certutil', ['-N', ...store, '--empty-password']);
  for (const [index, file] of trusted.entries()) {
    execFileSync('certutil', ['-A', ...store, '-t', 'C,,', '-n', `trusted ${index}`, '-i', file]);
  }
  return profile;
}

function userPrefs(more: Record<string, string | number | boolean>): string {
  const prefs = {
    'extensions.webextensions.uuids': JSON.stringify({ [FIREFOX_EXTENSION_ID]: OWN }),
    // Grants optional permissions without a prompt.
    'extensions.webextOptionalPermissionPrompts': false,
    // Firefox uses no HTTP/3 with a private CA unless this is set.
    'network.http.http3.disable_when_third_party_roots_found': false,
    'browser.shell.checkDefaultBrowser': false,
    'browser.startup.page': 0,
    'datareporting.policy.dataSubmissionEnabled': false,
    ...more,
  };
  return Object.entries(prefs)
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
    .join('');
}

function listeningAt(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (process.env.HOPWISE_TEST_VERBOSE) process.stderr.write(text);
      said += text;
      const found = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said);
      if (found) resolve(found[1]!);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`Firefox ended:\n${said}`)));
  });
}
