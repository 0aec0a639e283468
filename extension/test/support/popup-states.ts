/** The states of the popup, as the worker's answers make them. */
import { type Decision, MESSAGE_VERSION, type PinState, type Prediction } from '@hopwise/contract';
import { predict } from '@hopwise/pageload-emulator';
import type { Page } from 'playwright-core';
import { AUTOPILOT_DEFAULTS } from '../../src/autopilot/settings/autopilot-settings.ts';
import type { PinGain } from '../../src/evidence/pin-outcomes.ts';
import type { LatestAnswer, StoredLoad } from '../../src/messages/load-messages.ts';
import type { ExtensionBrowser } from './browser.ts';
import { actionOf, decisionOf, LEAVE } from './decisions.ts';
import { largePage } from './large-page.ts';

/** What a page of the extension is told. */
export interface PopupState {
  /** Answers by type of request; null for one that never comes. */
  answers: Record<string, object | null>;
  hasHelper: boolean;
  /** The helper's message version. */
  version: number;
  /** Matches an element once the state is shown. */
  complete: string;
  /** URL of the tab. */
  url: string;
}

const REQUESTS = 60;
const URL_OF_TAB = 'https://www.example.org/news/today';

/**
 * Makes what the popup shows, by state.
 *
 * @param language of the prediction's sentences
 * @param endMs when pins end, milliseconds since 1970
 * @param predicted of `largePage(60)`
 */
export function makePopupStates(
  language: 'en' | 'de',
  endMs: number,
  predicted = predict(largePage(REQUESTS), { waterfall: true, language }),
): Record<string, PopupState> {
  const recording = largePage(REQUESTS);
  const origins = predicted.origins.map(({ origin }) => origin);
  const held = Object.fromEntries(origins.map((origin) => [origin, 'h2' as const]));
  const time = { pltMs: 4700, low: 4200, high: 5400 };
  const action = actionOf('avoid-h3', held, { time, emulated: time, gainMs: 19_300 });
  const own = { pltMs: 24_000, low: 19_000, high: 29_000 };
  const verdict = {
    en: 'Keep this page off HTTP/3: 24 s → about 4.7 s (sure)',
    de: 'HTTP/3 für diese Seite meiden: 24 s → etwa 4,7 s (sicher)',
  };
  const emulated = { pltMs: 26_000, low: 21_000, high: 31_000 };
  const baseline = { ...decisionOf([action]).baseline, ...own, laterPltMs: own.pltMs, emulated };
  const decide = (more: Partial<Decision> = {}) =>
    decisionOf([action], {
      verdict: verdict[language],
      baseline,
      protocols: { h1: { pltMs: 5100, low: 4500, high: 6000 }, h2: action.time, h3: own },
      evidence: predicted.decision.evidence,
      ...more,
    });
  const load = (decision: Decision, more: Partial<Prediction> = {}, fields: Partial<StoredLoad> = {}) =>
    ({
      id: 1,
      requestedUrl: URL_OF_TAB,
      storedAtMs: 0,
      recording,
      pinned: {},
      wasVisible: true,
      isDetailed: true,
      problem: '',
      verification: null,
      verifiedPrediction: null,
      cluster: null,
      network: null,
      networkKey: null,
      language,
      ...fields,
      prediction: {
        ...predicted,
        network: { ...predicted.network, udp: 1.2 },
        observed: { ...predicted.observed, pltMs: 24_400 },
        decision,
        ...more,
      },
    }) as unknown as StoredLoad;
  const latest = (more: Partial<LatestAnswer>) => ({
    ok: true,
    phase: 'recorded',
    problem: '',
    loadId: 1,
    load: null,
    canExportQueries: false,
    incomplete: null,
    pinGain: null,
    ...more,
  });
  const pins: PinState[] = origins.map((origin) => ({
    origin,
    kind: 'avoid-h3',
    persistent: false,
    state: 'active',
    expiresAtMs: endMs,
    reason: '',
  }));
  const settings = { ...AUTOPILOT_DEFAULTS, isOn: false };
  const network = { slowsH3: false, isSuspected: false, keepsOffH3: false };
  const autopilot = { ok: true, settings, runs: [], learned: [], network };
  const pinsAnswer = {
    ok: true,
    allowed: true,
    pins: [] as PinState[],
    caHosts: null,
    launcher: null,
    localOrigins: [],
  };
  const answers = {
    latest: latest({ load: load(decide()) }) as object | null,
    autopilot: autopilot as object,
    pins: pinsAnswer as object,
    settings: { ok: true, settings: { excludedSites: [] as string[] } } as object,
    'saved-time': { ok: true, saved: { savedMs: 0, loads: 0, estimated: 0, uncompared: 0 } },
    verification: { ok: true, state: 'none' },
    'pin-outcomes': { ok: true, outcomes: [] },
  };
  const state = (more: Partial<typeof answers>, rest: Partial<PopupState> = {}): PopupState => ({
    answers: { ...answers, ...more },
    hasHelper: true,
    version: MESSAGE_VERSION,
    complete: '#content:not([aria-busy])',
    url: URL_OF_TAB,
    ...rest,
  });
  const isOn = { ...autopilot, settings: { ...settings, isOn: true } };
  const gain = (effect: PinGain['effect'], beforeMs: number, afterMs: number): PinGain => ({
    beforeMs,
    afterMs,
    beforeLoads: 1,
    afterLoads: 1,
    savedMs: { low: 1, high: 2 },
    effect,
  });
  const pinned = (pinGain: PinGain | null) => ({
    latest: latest({ load: load(decide(), {}, { pinned: held }), pinGain }),
    pins: { ...pinsAnswer, pins },
    'saved-time': { ok: true, saved: { savedMs: 61_000, loads: 4, estimated: 0, uncompared: 0 } },
  });
  const isPinned = { complete: '.hw-undo:not([hidden]) > button:not([hidden])' };
  const quick = { pltMs: 1900, low: 1700, high: 2200 };
  const leave = (protocols: Decision['protocols'], more: Partial<Prediction> = {}) =>
    latest({
      load: load(
        decisionOf([LEAVE], {
          protocols,
          evidence: predicted.decision.evidence,
          baseline: { ...baseline, ...quick, protocols: held, laterPltMs: quick.pltMs },
        }),
        { observed: { ...predicted.observed, pltMs: 1840 }, ...more },
      ),
    });
  const summary = {
    en: 'The recorded load took 24 s; its emulation expects 3.1 s.',
    de: 'Der aufgezeichnete Ladevorgang dauerte 24 s; die Emulation erwartet 3,1 s.',
  };
  return {
    waiting: state({ latest: null }, { complete: '.hw-skeleton' }),
    offer: state({}),
    'offer-autopilot': state({ autopilot: isOn }),
    'helper-missing': state({ autopilot: isOn }, { hasHelper: false, complete: '.hw-install:not([hidden])' }),
    active: state(pinned(null), isPinned),
    gained: state(pinned(gain('gains', 24_400, 5200)), isPinned),
    harmed: state(pinned(gain('harms', 4300, 5200)), isPinned),
    good: state({ latest: leave({ h2: quick, h3: own }) }),
    nothing: state({ latest: leave({ h2: own, h3: quick }) }),
    unsure: state({
      latest: latest({
        load: load(decide({ kind: 'unsure', action: LEAVE, actions: [LEAVE, { ...action, helps: 0.7 }] })),
      }),
    }),
    'not-understood': state({
      latest: latest({
        load: load(decide({ kind: 'unsure', action: LEAVE, actions: [LEAVE, action] }), {
          fit: {
            recordedMs: 24_000,
            explainedMs: 3100,
            explainedRange: { low: 2900, high: 3300 },
            understood: false,
            reason: summary[language],
            summary: summary[language],
            notes: [],
          },
        }),
      }),
    }),
    'network-rule': state({
      autopilot: { ...isOn, network: { slowsH3: true, isSuspected: false, keepsOffH3: true } },
      latest: leave({ h2: quick, h3: own }),
    }),
    'network-hinders': state({
      autopilot: { ...autopilot, network: { slowsH3: true, isSuspected: false, keepsOffH3: false } },
    }),
    incomplete: state({
      latest: latest({
        load: load(decide()),
        incomplete: { kind: 'cached', networkRequests: 2, requests: 84, isReplaced: true },
      }),
    }),
    excluded: state({
      latest: latest({ phase: 'none', loadId: null }),
      settings: { ok: true, settings: { excludedSites: ['example.org'] } },
    }),
    none: state({ latest: latest({ phase: 'none', loadId: null }) }),
    failed: state({
      latest: latest({
        phase: 'failed',
        loadId: null,
        problem: 'This page could not be recorded: its tab was closed.',
      }),
    }),
    refused: state({ latest: { ok: false, error: 'The database cannot be opened.' } }),
  };
}

/** Opens the popup in a state. @param now its fixed time */
export async function openPopupState(browser: ExtensionBrowser, state: PopupState, now: Date): Promise<Page> {
  const page = await browser.openOwn('devtools.html');
  await page.clock.setFixedTime(now);
  await page.addInitScript(installPopupState, state);
  await page.goto(new URL('popup.html?tabId=1', page.url()).href);
  await page.locator(state.complete).first().waitFor();
  await page.locator('#autopilot:not([hidden])').waitFor();
  return page;
}

/** Has a page of the extension receive a state. Runs in the page, from its source text: it can use nothing from outside. */
function installPopupState({ answers, hasHelper, url, version }: PopupState): void {
  const { runtime, tabs } = chrome;
  const ask = runtime.sendMessage.bind(runtime) as (message: unknown) => Promise<unknown>;
  const sendMessage = (message: { type: string; brief?: boolean }) => {
    const answer = answers[message.type];
    if (answer === undefined) return ask(message);
    if (answer === null) return new Promise(() => {});
    return Promise.resolve(message.brief ? { ...answer, load: null } : structuredClone(answer));
  };
  const connectNative = () => {
    let receive = (_message: unknown) => {};
    return {
      postMessage: ({ id }: { id: string }) =>
        receive({
          ...{ type: 'hello', id, version, hostVersion: '0.1.0', launcher: '/usr/bin/hopwise-host' },
          ...{ engine: 'libcurl/8.14.1', http3: true, problem: '' },
        }),
      disconnect: () => {},
      onMessage: {
        addListener: (listener: (message: unknown) => void) => {
          receive = listener;
        },
      },
      onDisconnect: { addListener: () => {} },
    };
  };
  Object.assign(runtime, { sendMessage, ...(hasHelper ? { connectNative } : {}) });
  Object.assign(tabs, { get: async () => ({ id: 1, url }) });
}
