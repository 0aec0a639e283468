import type { Prediction } from '@hopwise/contract';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { EmulationClient } from '../../../src/devtools/emulation/emulation-client.ts';
import type {
  EmulationAnswer,
  EmulationRequest,
} from '../../../src/devtools/emulation/emulation-messages.ts';
import { loadOf, requestOf } from '../../evidence/stored-loads.ts';

/** Stands for the browser's worker, which a test without a browser cannot have. */
class StubWorker extends EventTarget {
  static last: StubWorker;
  readonly requests: EmulationRequest[] = [];

  constructor() {
    super();
    StubWorker.last = this;
  }

  postMessage(request: EmulationRequest): void {
    this.requests.push(request);
  }

  answer(data: EmulationAnswer): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
}

beforeEach(() => vi.stubGlobal('Worker', StubWorker));
afterEach(() => vi.unstubAllGlobals());

function idOf(request: EmulationRequest | undefined): number {
  if (!request || !('id' in request)) throw new Error('expected a question');
  return request.id;
}

test('a page is read with the offers of HTTP/3 that its prediction rests on', () => {
  const { recording } = loadOf(1, {
    recording: { requests: [requestOf(0, { protocol: 'h2', offersH3: null })] },
  });
  const protocols = { [new URL(recording.url).origin]: 'h3' };
  const prediction = { decision: { baseline: { protocols } } } as unknown as Prediction;
  new EmulationClient(vi.fn()).setPage(recording, prediction);
  expect(StubWorker.last.requests).toMatchObject([
    { kind: 'page', recording: { requests: [{ offersH3: true }] } },
  ]);
});

describe('a question that fails', () => {
  const onProblem = vi.fn();
  const onAnswer = vi.fn();
  const onFailure = vi.fn();
  let client: EmulationClient;

  beforeEach(() => {
    vi.clearAllMocks();
    client = new EmulationClient(onProblem);
    client.askServers({}, onAnswer, onFailure);
  });

  it('is reported where it was asked', () => {
    const { last } = StubWorker;
    last.answer({ kind: 'problem', problem: 'no load', of: 'servers', id: idOf(last.requests[0]) });
    expect(onFailure).toHaveBeenCalledExactlyOnceWith('no load');
    expect(onProblem).not.toHaveBeenCalled();
  });

  it('is not reported after the next one of its kind', () => {
    const { last } = StubWorker;
    client.askServers({ unproven: true }, onAnswer, onFailure);
    last.answer({ kind: 'problem', problem: 'no load', of: 'servers', id: idOf(last.requests[0]) });
    expect(onFailure).not.toHaveBeenCalled();
    expect(onProblem).not.toHaveBeenCalled();
  });

  it('is reported for the whole panel where its tab has no place for it', () => {
    const { last } = StubWorker;
    client.askGraph([], false, onAnswer);
    last.answer({ kind: 'problem', problem: 'no graph', of: 'graph', id: idOf(last.requests[1]) });
    last.answer({ kind: 'problem', problem: 'no page', of: 'page', id: null });
    expect(onProblem.mock.calls).toEqual([['no graph'], ['no page']]);
    expect(onFailure).not.toHaveBeenCalled();
  });
});
