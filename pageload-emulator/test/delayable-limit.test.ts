import { describe, expect, it } from 'vitest';
import { DelayableLimit } from '../src/client/delayable-limit.ts';

function limitOf(): { limit: DelayableLimit<string>; sent: string[] } {
  const sent: string[] = [];
  return { limit: new DelayableLimit((request) => sent.push(request)), sent };
}

describe('the limit on requests of low priority over HTTP/1.1', () => {
  it('sends six to a host and ten in all, and the next when one ends', () => {
    const { limit, sent } = limitOf();
    for (let i = 0; i < 8; i++) limit.pass(`a${i}`, 3, 0);
    for (let i = 0; i < 5; i++) limit.pass(`b${i}`, 3, 1);
    expect(sent.splice(0)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'b0', 'b1', 'b2', 'b3']);
    limit.done(1);
    expect(sent.splice(0)).toEqual(['b4']);
    limit.done(0);
    limit.done(0);
    expect(sent).toEqual(['a6', 'a7']);
  });

  it('lets what waits for its host hold up nothing that goes elsewhere', () => {
    const { limit, sent } = limitOf();
    for (let i = 0; i < 20; i++) limit.pass(`a${i}`, 3, 0);
    limit.pass('script', 3, 1);
    expect(sent.at(-1)).toBe('script');
  });

  it('takes the more urgent first, and those alike in order', () => {
    const { limit, sent } = limitOf();
    for (let i = 0; i < 6; i++) limit.pass(`a${i}`, 3, 0);
    for (const [name, urgency] of [
      ['late', 4],
      ['first', 3],
      ['second', 3],
      ['urgent', 2],
    ] as const) {
      limit.pass(name, urgency, 0);
    }
    sent.length = 0;
    for (let i = 0; i < 4; i++) limit.done(0);
    expect(sent).toEqual(['urgent', 'first', 'second', 'late']);
  });
});
