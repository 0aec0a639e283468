/** Follows the requests of a page through the DevTools protocol, including those of out-of-process frames and of workers. */
import { originOf } from '@hopwise/pageload-emulator';
import type { Protocol as Cdp } from 'devtools-protocol';
import type { CDPSession } from 'playwright-core';

/** One request, or one hop of a chain of redirects. Times are milliseconds of the browser's monotonic clock. */
export interface Hop {
  url: string;
  method: string;
  type: Cdp.Network.ResourceType;
  frameId: string | undefined;
  wantedAt: number;
  initiator: Cdp.Network.Initiator;
  isPreload: boolean;
  renderBlocking: boolean | null;
  /** In order of time; the first is the initial one. */
  priorities: { at: number; priority: Cdp.Network.ResourcePriority }[];
  redirectedFrom: Hop | null;
  response: Cdp.Network.Response | null;
  servedFromMemory: boolean;
  /** Null while the request is open. */
  endedAt: number | null;
  /** On the wire, with headers; null while the request is open. */
  encodedBytes: number | null;
  decodedBytes: number;
  failure: string | null;
}

type Send = (method: string, params?: object) => void;

/** The depth that DevTools itself requests: promises and timers between a script and its request. */
const ASYNC_STACK_DEPTH = 32;

/** Follows the requests of one page, starting with `follow`. */
export class LoadObserver {
  /** By request id; each with its hops in order. */
  readonly #chains = new Map<string, Hop[]>();
  #commands = 0;

  /** @throws when the page has been closed. */
  static async follow(session: CDPSession): Promise<LoadObserver> {
    const observer = new LoadObserver();
    const receive = observer.#target((method, params) => {
      // A closed target has nothing more to report.
      (session as LooseSession).send(method, params).catch(() => undefined);
    });
    for (const method of FOLLOWED) (session as LooseSession).on(method, (params) => receive(method, params));
    await Promise.all(SET_UP.map(([method, params]) => (session as LooseSession).send(method, params)));
    return observer;
  }

  /** Number of requests that started by `at` and are still open. @param at monotonic milliseconds */
  open(at = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (const chain of this.#chains.values()) {
      const last = chain.at(-1)!;
      if (last.endedAt === null && last.wantedAt <= at && originOf(last.url) !== null) count++;
    }
    return count;
  }

  /** All requests in order of start, with redirect hops as separate entries. */
  hops(): Hop[] {
    return [...this.#chains.values()].flat().sort((a, b) => a.wantedAt - b.wantedAt);
  }

  /** @returns the event handler for the target that `send` reaches. */
  #target(send: Send): (method: string, params: unknown) => void {
    const children = new Map<string, (method: string, params: unknown) => void>();
    return (method, params) => {
      if (method === 'Target.attachedToTarget') {
        const { sessionId } = params as Cdp.Target.AttachedToTargetEvent;
        const sendChild: Send = (childMethod, childParams = {}) =>
          send('Target.sendMessageToTarget', {
            sessionId,
            message: JSON.stringify({ id: ++this.#commands, method: childMethod, params: childParams }),
          });
        children.set(sessionId, this.#target(sendChild));
        for (const [childMethod, childParams] of SET_UP) sendChild(childMethod, childParams);
        sendChild('Runtime.runIfWaitingForDebugger');
      } else if (method === 'Target.receivedMessageFromTarget') {
        const { sessionId, message } = params as Cdp.Target.ReceivedMessageFromTargetEvent;
        const event = JSON.parse(message) as { method?: string; params?: unknown };
        if (event.method !== undefined) children.get(sessionId)?.(event.method, event.params);
      } else {
        this.receive(method, params);
      }
    };
  }

  /** Handles one event of the Network domain, from any target: request ids are unique in the browser. */
  receive(method: string, params: unknown): void {
    switch (method) {
      case 'Network.requestWillBeSent':
        this.#sent(params as Cdp.Network.RequestWillBeSentEvent);
        return;
      case 'Network.resourceChangedPriority': {
        const { requestId, newPriority, timestamp } = params as Cdp.Network.ResourceChangedPriorityEvent;
        this.#last(requestId)?.priorities.push({ at: timestamp * 1000, priority: newPriority });
        return;
      }
      case 'Network.requestServedFromCache': {
        const hop = this.#last((params as Cdp.Network.RequestServedFromCacheEvent).requestId);
        if (hop) hop.servedFromMemory = true;
        return;
      }
      case 'Network.responseReceived': {
        const { requestId, response } = params as Cdp.Network.ResponseReceivedEvent;
        const hop = this.#last(requestId);
        if (hop) hop.response = response;
        return;
      }
      case 'Network.dataReceived': {
        const { requestId, dataLength } = params as Cdp.Network.DataReceivedEvent;
        const hop = this.#last(requestId);
        if (hop) hop.decodedBytes += dataLength;
        return;
      }
      case 'Network.loadingFinished': {
        const { requestId, timestamp, encodedDataLength } = params as Cdp.Network.LoadingFinishedEvent;
        const hop = this.#last(requestId);
        if (!hop) return;
        hop.endedAt = timestamp * 1000;
        hop.encodedBytes = Math.max(0, encodedDataLength);
        return;
      }
      case 'Network.loadingFailed': {
        const { requestId, timestamp, errorText, blockedReason, corsErrorStatus } =
          params as Cdp.Network.LoadingFailedEvent;
        const hop = this.#last(requestId);
        if (!hop) return;
        hop.endedAt = timestamp * 1000;
        const why = blockedReason ?? corsErrorStatus?.corsError;
        hop.failure = [errorText || 'failed', ...(why ? [`(${why})`] : [])].join(' ');
        return;
      }
    }
  }

  #last(requestId: string): Hop | undefined {
    return this.#chains.get(requestId)?.at(-1);
  }

  #sent(event: Cdp.Network.RequestWillBeSentEvent): void {
    const { requestId, request, redirectResponse, timestamp } = event;
    const chain = this.#chains.get(requestId) ?? [];
    const before = chain.at(-1) ?? null;
    if (before && redirectResponse) {
      before.response = redirectResponse;
      before.endedAt = answeredAt(redirectResponse) ?? timestamp * 1000;
      before.encodedBytes = Math.max(0, redirectResponse.encodedDataLength);
    }
    chain.push({
      url: request.url,
      method: request.method,
      type: event.type ?? 'Other',
      frameId: event.frameId,
      wantedAt: timestamp * 1000,
      initiator: event.initiator,
      isPreload: request.isLinkPreload ?? false,
      renderBlocking: blocksRendering(event.renderBlockingBehavior),
      priorities: [{ at: 0, priority: request.initialPriority }],
      redirectedFrom: redirectResponse ? before : null,
      response: null,
      servedFromMemory: false,
      endedAt: null,
      encodedBytes: null,
      decodedBytes: 0,
      failure: null,
    });
    this.#chains.set(requestId, chain);
  }
}

/** Playwright's types list each event and command separately. */
interface LooseSession {
  on(method: string, listener: (params: unknown) => void): void;
  send(method: string, params?: object): Promise<unknown>;
}

const FOLLOWED = [
  'Target.attachedToTarget',
  'Target.receivedMessageFromTarget',
  'Network.requestWillBeSent',
  'Network.resourceChangedPriority',
  'Network.requestServedFromCache',
  'Network.responseReceived',
  'Network.dataReceived',
  'Network.loadingFinished',
  'Network.loadingFailed',
];

const SET_UP: [string, object][] = [
  // Bodies are not needed here, and keeping them costs memory in the page's process.
  ['Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 }],
  // Out-of-process frames and workers pause until they are followed; their events arrive through the parent's session.
  ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: false }],
  // Needed for the stacks of promises and timers between a script and its request.
  ['Debugger.enable', {}],
  ['Debugger.setAsyncCallStackDepth', { maxDepth: ASYNC_STACK_DEPTH }],
  // A `debugger` statement in the page would pause it.
  ['Debugger.setSkipAllPauses', { skip: true }],
];

function blocksRendering(behavior: string | undefined): boolean | null {
  if (behavior === undefined) return null;
  return behavior === 'Blocking' || behavior === 'InBodyParserBlocking';
}

/** When the response's headers arrived, monotonic milliseconds. */
export function answeredAt({ timing }: Cdp.Network.Response): number | null {
  return timing ? timing.requestTime * 1000 + timing.receiveHeadersEnd : null;
}

/**
 * navigationStart of the page's document, milliseconds of the browser's monotonic clock.
 *
 * @throws when the page has been closed.

 */
export async function navigationStart(session: CDPSession): Promise<number> {
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.send('Performance.disable');
  const start = metrics.find(({ name }) => name === 'NavigationStart')?.value ?? 0;
  if (start <= 0) throw new Error('the browser does not say when the navigation started');
  return start * 1000;
}
