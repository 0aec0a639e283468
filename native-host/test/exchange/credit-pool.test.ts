import { describe, expect, it } from 'vitest';
import { CreditPool, MIN_WINDOW_BYTES, POOL_BYTES, WINDOW_BYTES } from '../../src/exchange/credit-pool.ts';

describe('credit', () => {
  it('starts with a full window, and is refilled when half of it is used', () => {
    const account = new CreditPool().account();
    expect(account.grant(0)).toBe(WINDOW_BYTES);
    expect(account.grant(WINDOW_BYTES)).toBe(0);
    expect(account.grant(WINDOW_BYTES / 2 + 1)).toBe(0);
    expect(account.grant(WINDOW_BYTES / 2)).toBe(WINDOW_BYTES / 2);
  });

  it('is bounded for all together, and never below the minimum for each', () => {
    const pool = new CreditPool();
    const accounts = Array.from({ length: 1000 }, () => pool.account());
    const granted = accounts.map((account) => account.grant(0));
    expect(granted.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(
      POOL_BYTES + accounts.length * MIN_WINDOW_BYTES,
    );
    expect(granted[0]).toBe(WINDOW_BYTES);
    expect(granted.at(-1)).toBe(MIN_WINDOW_BYTES);
    expect(accounts.at(-1)!.grant(MIN_WINDOW_BYTES)).toBe(0);
    expect(accounts.at(-1)!.grant(0)).toBe(MIN_WINDOW_BYTES);
  });

  it('goes back when an exchange ends', () => {
    const pool = new CreditPool();
    const accounts = Array.from({ length: POOL_BYTES / WINDOW_BYTES }, () => pool.account());
    for (const account of accounts) account.grant(0);
    const late = pool.account();
    expect(late.grant(0)).toBe(MIN_WINDOW_BYTES);
    for (const account of accounts) account.close();
    expect(late.grant(0)).toBe(WINDOW_BYTES);
  });

  it('survives a piece more than was granted', () => {
    const account = new CreditPool().account();
    account.grant(0);
    expect(account.grant(-1000)).toBe(WINDOW_BYTES + 1000);
  });
});
