import type { LookupAddress } from 'node:dns';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connectToFirst, interleaved } from '../../../src/pins/proxy/happy-eyeballs.ts';

const NEVER = new AbortController().signal;
const LONG_MS = 60_000;

function of(...addresses: string[]): LookupAddress[] {
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

/** Attempts that end as the test says. */
class Attempts {
  readonly sockets = new Map<string, Socket>();
  readonly dial = ({ address }: LookupAddress): Socket => {
    const socket = new Socket();
    this.sockets.set(address, socket);
    this.#onDial?.(address);
    return socket;
  };
  #onDial: ((address: string) => void) | undefined;

  /** When an attempt at this address has begun. */
  begun(address: string): Promise<void> {
    if (this.sockets.has(address)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onDial = (dialled) => dialled === address && resolve();
    });
  }

  succeed(address: string): void {
    this.sockets.get(address)!.emit('connect');
  }

  fail(address: string, message = address): void {
    this.sockets.get(address)!.destroy(new Error(message));
  }
}

describe('interleaved', () => {
  it('alternates between the families and begins with the first', () => {
    const addresses = of('::1', '::2', '::3', '192.0.2.1');
    expect(interleaved(addresses).map(({ address }) => address)).toEqual(['::1', '192.0.2.1', '::2', '::3']);
    expect(interleaved(of('192.0.2.1', '::1'))).toEqual(of('192.0.2.1', '::1'));
    expect(interleaved([])).toEqual([]);
  });
});

describe('connectToFirst', () => {
  it('tries the next address at once when one fails', async () => {
    const attempts = new Attempts();
    const connected = connectToFirst(of('::1', '192.0.2.1'), attempts.dial, NEVER, LONG_MS);
    attempts.fail('::1');
    await attempts.begun('192.0.2.1');
    attempts.succeed('192.0.2.1');
    expect(await connected).toBe(attempts.sockets.get('192.0.2.1'));
  });

  it('keeps a slow attempt going beside the next, and takes it though that one is dead', async () => {
    const attempts = new Attempts();
    const connected = connectToFirst(of('::1', '192.0.2.1'), attempts.dial, NEVER, 1);
    await attempts.begun('192.0.2.1');
    attempts.fail('192.0.2.1');
    attempts.succeed('::1');
    expect(await connected).toBe(attempts.sockets.get('::1'));
  });

  it('ends the attempts that lost', async () => {
    const attempts = new Attempts();
    const connected = connectToFirst(of('::1', '192.0.2.1', '192.0.2.2'), attempts.dial, NEVER, 1);
    await attempts.begun('192.0.2.1');
    attempts.succeed('192.0.2.1');
    const winner = await connected;
    expect(winner.destroyed).toBe(false);
    expect(winner.listenerCount('error')).toBe(0);
    expect(attempts.sockets.get('::1')!.destroyed).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(attempts.sockets.has('192.0.2.2')).toBe(false);
  });

  it('fails with the last fault when no address answers', async () => {
    const attempts = new Attempts();
    const connected = connectToFirst(of('192.0.2.1', '192.0.2.2'), attempts.dial, NEVER, LONG_MS);
    attempts.fail('192.0.2.1');
    await attempts.begun('192.0.2.2');
    attempts.fail('192.0.2.2', 'the last one');
    await expect(connected).rejects.toThrow('the last one');
  });

  it('fails where there is no address', async () => {
    await expect(connectToFirst([], new Attempts().dial, NEVER)).rejects.toThrow('no address');
  });

  it('stops when aborted', async () => {
    const attempts = new Attempts();
    const abort = new AbortController();
    const connected = connectToFirst(of('192.0.2.1', '192.0.2.2'), attempts.dial, abort.signal, LONG_MS);
    abort.abort(new Error('enough'));
    await expect(connected).rejects.toThrow('enough');
    expect(attempts.sockets.get('192.0.2.1')!.destroyed).toBe(true);
    expect(attempts.sockets.size).toBe(1);
    await expect(connectToFirst(of('::1'), attempts.dial, abort.signal)).rejects.toThrow('enough');
  });
});
