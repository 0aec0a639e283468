import { parseRecording, predict } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { chromiumEntry, harOf } from '../../support/hars.ts';

const PAGE = 'https://a.test/';
const document = (startMs = 0) =>
  chromiumEntry(
    PAGE,
    startMs,
    { dns: 5, connect: 60, ssl: 30, wait: 80, receive: 20 },
    { _resourceType: 'document' },
  );

/** A request that ends with an error, with or without a status before it. */
function failed(url: string, startMs: number, error: string, status = 0, type = 'image'): object {
  const entry = chromiumEntry(url, startMs, { blocked: 8_000, wait: 0 }, { _resourceType: type }) as {
    response: object;
  };
  const response = { ...entry.response, status, _transferSize: 0, _error: error };
  return { ...entry, response };
}

describe('requests that failed because of a protocol', () => {
  it('are counted by the error that Chromium names, also where the answer was cut off, and not after the load', () => {
    const entries = [
      document(),
      failed(`${PAGE}1.png`, 170, 'net::ERR_QUIC_PROTOCOL_ERROR'),
      failed(`${PAGE}2.png`, 170, 'net::ERR_QUIC_PROTOCOL_ERROR', 200),
      failed(`${PAGE}3.png`, 170, 'net::ERR_HTTP2_PROTOCOL_ERROR'),
      failed(`${PAGE}4.png`, 170, 'net::ERR_BLOCKED_BY_CLIENT'),
      failed(`${PAGE}5`, 170, 'net::ERR_QUIC_PROTOCOL_ERROR', 0, 'ping'),
      failed(`${PAGE}6`, 5_000, 'net::ERR_QUIC_PROTOCOL_ERROR', 200, 'fetch'),
      failed(`${PAGE}7`, 5_000, 'net::ERR_NETWORK_CHANGED', 200, 'fetch'),
      failed('https://elsewhere.test/', 9_000, 'net::ERR_ABORTED', 0, 'document'),
    ];
    const recording = parseRecording(harOf(entries, { onLoad: 8_200 }));
    expect(recording.failedOver).toEqual({ h2: 1, h3: 2 });
    expect(recording).not.toHaveProperty('networkChanged');
    expect(parseRecording(harOf([document()]))).not.toHaveProperty('failedOver');
  });

  it('are others than those that a change of network ended, which leaves no load understood either', () => {
    const entries = [document(), failed(`${PAGE}1.png`, 170, 'net::ERR_NETWORK_CHANGED')];
    const recording = parseRecording(harOf(entries, { onLoad: 8_200 }));
    expect(recording).toMatchObject({ networkChanged: true });
    expect(recording).not.toHaveProperty('failedOver');
    expect(predict(recording).fit).toMatchObject({ understood: false });
    expect(predict(recording).fit.notes[0]).toBe('The network changed, or was gone for a while.');
    const other = parseRecording(
      harOf([document(), failed(`${PAGE}1.png`, 170, 'net::ERR_CONNECTION_RESET')]),
    );
    expect(other).not.toHaveProperty('networkChanged');
  });

  it('are others than those that the machine ended as it was put to sleep, which leaves no load understood either', () => {
    const entries = [document(), failed(`${PAGE}1.png`, 170, 'net::ERR_NETWORK_IO_SUSPENDED')];
    const { fit } = predict(parseRecording(harOf(entries, { onLoad: 38_200 })));
    expect(fit).toMatchObject({
      understood: false,
      notes: ['The network changed, or was gone for a while.'],
    });
  });

  it('leave no load understood, not even one of the next attempt, which went over TCP', () => {
    const attempt = failed(PAGE, 0, 'net::ERR_QUIC_PROTOCOL_ERROR', 0, 'document');
    const image = chromiumEntry(`${PAGE}1.png`, 10_200, { wait: 40 }, { _resourceType: 'image' });
    const recording = parseRecording(harOf([attempt, document(10_000), image], { onLoad: 10_500 }));
    expect(recording.requests).toHaveLength(2);
    const { fit, decision } = predict(recording);
    expect(fit).toMatchObject({ understood: false, notes: ['A request failed because of HTTP/3.'] });
    expect(decision.verdict).toMatch(
      /^This load is not understood, verify it: a request failed because of HTTP\/3/,
    );
  });
});
