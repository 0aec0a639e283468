import { beforeEach, describe, expect, it } from 'vitest';
import { DelayableLimit } from '../../src/client/delayable-limit.ts';

/** Host a is origin 0, host b origin 1. */
const ORIGINS = ['a', 'b'];

describe('the limit on low-priority requests', () => {
  let sent: string[];
  let known: Set<number>;
  let limit: DelayableLimit<string>;

  beforeEach(() => {
    sent = [];
    known = new Set();
    limit = new DelayableLimit(
      (request) => sent.push(request),
      (origin) => known.has(origin),
    );
  });

  function ask(request: string, urgency = 3): void {
    limit.pass(request, urgency, ORIGINS.indexOf(request[0]!), urgency >= 3);
  }

  function end(request: string): void {
    limit.done(request, ORIGINS.indexOf(request[0]!));
  }

  it('sends six to a host and ten in all, and the next when one ends', () => {
    for (let i = 0; i < 8; i++) ask(`a${i}`);
    for (let i = 0; i < 5; i++) ask(`b${i}`);
    expect(sent.splice(0)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'b0', 'b1', 'b2', 'b3']);
    end('b0');
    expect(sent.splice(0)).toEqual(['b4']);
    end('a0');
    end('a1');
    expect(sent).toEqual(['a6', 'a7']);
  });

  it('does not let requests that wait for their host hold up requests to other hosts', () => {
    for (let i = 0; i < 20; i++) ask(`a${i}`);
    ask('b');
    expect(sent.at(-1)).toBe('b');
  });

  it('takes more urgent requests first, and equally urgent ones in order of arrival', () => {
    for (let i = 0; i < 6; i++) ask(`a${i}`);
    for (const [name, urgency] of [
      ['a late', 5],
      ['a first', 4],
      ['a second', 4],
      ['a urgent', 3],
    ] as const) {
      ask(name, urgency);
    }
    sent.length = 0;
    for (let i = 0; i < 4; i++) end(`a${i}`);
    expect(sent).toEqual(['a urgent', 'a first', 'a second', 'a late']);
  });

  it('counts requests of higher priority against their host only', () => {
    for (let i = 0; i < 6; i++) ask(`a${i}`, 0);
    for (let i = 0; i < 6; i++) ask(`b${i}`);
    ask('a low');
    expect(sent).toHaveLength(12);
    end('a0');
    expect(sent.at(-1)).toBe('a low');
  });

  it('holds nothing back from a server that is known to multiplex', () => {
    known.add(0);
    for (let i = 0; i < 20; i++) ask(`a${i}`);
    expect(sent).toHaveLength(20);
  });

  it('sends all requests that wait for a server that has become known, once a request ends', () => {
    for (let i = 0; i < 20; i++) ask(`a${i}`);
    ask('b');
    known.add(0);
    expect(sent).toHaveLength(7);
    end('b');
    expect(sent).toHaveLength(21);
  });
});
