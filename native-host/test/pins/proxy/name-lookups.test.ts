import { expect, it } from 'vitest';
import { AddressCache } from '../../../src/pins/proxy/address-cache.ts';
import { NameLookups } from '../../../src/pins/proxy/name-lookups.ts';

const SOON = { timeout: 60_000 };
const ADDRESSES = [{ address: '192.0.2.1', family: 4 }];

/** A resolver that answers only on request. */
class SlowResolver {
  readonly asked: string[] = [];
  readonly #answers = new Map<string, (addresses: typeof ADDRESSES) => void>();

  readonly look = (host: string): Promise<typeof ADDRESSES> => {
    this.asked.push(host);
    return new Promise((resolve) => this.#answers.set(host, resolve));
  };

  answer(host: string): void {
    this.#answers.get(host)!(ADDRESSES);
  }
}

const namesOf = (site: string, count: number) =>
  Array.from({ length: count }, (_, index) => `host-${index}.${site}`);

/** Resolves when all that is under way has got as far as it can. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('does not let one site hold up the look-ups of others', async () => {
  const resolver = new SlowResolver();
  const lookups = new NameLookups(resolver.look);
  const hosts = namesOf('evil.co.uk', 2000);
  const names = hosts.map((name) => lookups.begin(name).addresses);
  const other = lookups.begin('bank.co.uk').addresses;
  await expect.poll(() => resolver.asked, SOON).toContain('bank.co.uk');
  resolver.answer('bank.co.uk');
  expect(await other).toEqual(ADDRESSES);
  expect(resolver.asked.filter((name) => name !== 'bank.co.uk')).toEqual(hosts.slice(0, 24));
  // As soon as one has ended, the site has another one looked up.
  resolver.answer('host-0.evil.co.uk');
  await names[0];
  await expect.poll(() => resolver.asked, SOON).toContain('host-24.evil.co.uk');
  expect(resolver.asked).toHaveLength(26);
});

it('does not let two sites hold up the look-ups of others', async () => {
  const resolver = new SlowResolver();
  const lookups = new NameLookups(resolver.look);
  const sites = ['a.test', 'b.test'];
  const names = sites.flatMap((site) => namesOf(site, 100));
  for (const name of names) lookups.begin(name);
  const other = lookups.begin('bank.test').addresses;
  await expect.poll(() => resolver.asked, SOON).toContain('bank.test');
  resolver.answer('bank.test');
  expect(await other).toEqual(ADDRESSES);
  const count = (site: string) => resolver.asked.filter((name) => name.endsWith(site)).length;
  expect(sites.map(count)).toEqual([24, 6]);
  // As those of the first end, the second has more.
  for (const name of names.slice(0, 12)) resolver.answer(name);
  await settle();
  expect(sites.map(count)).toEqual([27, 13]);
});

it('looks up 32 names at a time, the others in their turn, and none that nothing waits for any more', async () => {
  const resolver = new SlowResolver();
  const lookups = new NameLookups(resolver.look);
  const names = Array.from({ length: 50 }, (_, index) => `www.site-${index}.test`);
  const pending = names.map((name) => lookups.begin(name));
  await expect.poll(() => resolver.asked, SOON).toHaveLength(32);
  const dropped = pending
    .slice(34)
    .map(({ addresses }) => expect(addresses).rejects.toThrow('nothing waits'));
  // Those of the last 16 that still wait for their turn.
  await settle();
  expect(pending.map((each) => pending.indexOf(each) > 33 && each.drop())).toEqual(
    names.map((_, index) => index > 33),
  );
  await Promise.all(dropped);
  expect(pending[0]!.drop()).toBe(false);
  for (const name of names.slice(0, 32)) resolver.answer(name);
  await expect.poll(() => resolver.asked, SOON).toEqual(names.slice(0, 34));
});

it('asks once for a name, also where connections to its host are given up', async () => {
  const resolver = new SlowResolver();
  const cache = new AddressCache(resolver.look);
  for (let connection = 0; connection < 3; connection += 1) {
    const given = new AbortController();
    const asked = cache.addresses('a.test', given.signal);
    await settle();
    given.abort(new Error('given up'));
    await expect(asked).rejects.toThrow('given up');
    cache.forget('a.test');
  }
  expect(resolver.asked).toEqual(['a.test']);
  const asked = cache.addresses('a.test', new AbortController().signal);
  resolver.answer('a.test');
  expect(await asked).toEqual(ADDRESSES);
});
