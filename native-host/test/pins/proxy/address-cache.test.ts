import { describe, expect, it } from 'vitest';
import { AddressCache } from '../../../src/pins/proxy/address-cache.ts';

const ADDRESSES = [{ address: '192.0.2.1', family: 4 }];

const { signal } = new AbortController();

function counting(): { asked: string[]; look: (host: string) => Promise<typeof ADDRESSES> } {
  const asked: string[] = [];
  return {
    asked,
    look: async (host) => {
      asked.push(host);
      if (host === 'dead.example') throw new Error('ENOTFOUND');
      return ADDRESSES;
    },
  };
}

describe('AddressCache', () => {
  it('asks once for questions at the same time and for a while after', async () => {
    const { asked, look } = counting();
    const cache = new AddressCache(look);
    await Promise.all([cache.addresses('a.example', signal), cache.addresses('a.example', signal)]);
    expect(await cache.addresses('a.example', signal)).toEqual(ADDRESSES);
    await cache.addresses('b.example', signal);
    expect(asked).toEqual(['a.example', 'b.example']);
  });

  it('looks up again after the time limit, and after forget()', async () => {
    const { asked, look } = counting();
    const cache = new AddressCache(look, 1);
    await cache.addresses('a.example', signal);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await cache.addresses('a.example', signal);
    expect(asked).toHaveLength(2);

    const long = new AddressCache(look);
    await long.addresses('b.example', signal);
    long.forget('b.example');
    await long.addresses('b.example', signal);
    expect(asked).toHaveLength(4);
  });

  it('keeps no failure', async () => {
    const { asked, look } = counting();
    const cache = new AddressCache(look);
    await expect(cache.addresses('dead.example', signal)).rejects.toThrow('ENOTFOUND');
    await expect(cache.addresses('dead.example', signal)).rejects.toThrow('ENOTFOUND');
    expect(asked).toHaveLength(2);
  });

  it('asks the system', async () => {
    const addresses = await new AddressCache().addresses('localhost', signal);
    expect(addresses.map(({ address }) => address)).toContain('127.0.0.1');
  });
});
