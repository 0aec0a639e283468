import { expect, it } from 'vitest';
import { FRAME } from '../../src/exchange/exchange-frames.ts';
import { type ExchangeTools, ExchangeTransfer } from '../../src/exchange/exchange-transfer.ts';

it('that was refused stays so, whatever else of its response arrives', () => {
  const frames: [number, unknown][] = [];
  const tools = {
    curl: { infoLong: () => 0, setLong: () => {}, readText: () => '', errorText: () => 'write error' },
    handles: { take: () => ({ easy: 1n, errorText: 2n }), limitConnecting: () => {} },
    output: {
      add: () => {},
      addJson: (type: number, _id: number, json: unknown) => frames.push([type, json]),
    },
    markSent: () => {},
  } as unknown as ExchangeTools;
  const order = { protocol: 'h1', method: 'GET', headers: [], credit: 0, slot: 0 } as never;
  const account = { grant: () => 0, close: () => {} } as never;
  const transfer = new ExchangeTransfer(7, order, account, tools);
  transfer.onConnected();
  expect(transfer.onHeader('HTTP/1.1 101 Switching Protocols\r\n')).toBe(true);
  expect(transfer.onHeader('\r\n')).toBe(false);
  expect(transfer.onHeader('a: b\r\n')).toBe(false);
  expect(String(transfer)).toBe('exchange 7 (refused)');
  transfer.end(23);
  expect(frames).toEqual([[FRAME.FAULT, expect.objectContaining({ code: 'protocol' })]]);
});
