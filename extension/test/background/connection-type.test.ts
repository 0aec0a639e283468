import { expect, test } from 'vitest';
import { listenToConnection } from '../../src/background/connection-type.ts';

test('another kind of connection is reported, new estimates are not', () => {
  const listeners: (() => void)[] = [];
  const connection = {
    type: 'wifi',
    addEventListener: (_event: 'change', listener: () => void) => void listeners.push(listener),
  };
  const change = () => {
    for (const listener of listeners) listener();
  };
  let changes = 0;
  listenToConnection(() => changes++, connection);
  change();
  expect(changes).toBe(0);
  connection.type = 'ethernet';
  for (let times = 0; times < 2; times++) change();
  expect(changes).toBe(1);
});

test('where the browser does not say it, nothing is listened to', () => {
  expect(() => listenToConnection(() => undefined, undefined)).not.toThrow();
});
