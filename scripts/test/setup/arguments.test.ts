import { expect, it } from 'vitest';
import { readFreshArguments, readTestArguments } from '../../setup/arguments.mjs';

it.each([
  [['unit'], 'expected options, got unit'],
  [['--nope'], 'unknown option --nope'],
  [['--only'], 'option --only argument missing'],
  [['--changed=3'], 'option --changed does not take an argument'],
  [['--only', 'units'], '--only: expected some of lint,python,unit,go,integration,e2e,alone,long, got units'],
  [['--since', 'HEAD'], '--since goes with --changed'],
])('npm test -- %j is refused in one line', (words, line) => {
  expect(() => readTestArguments(words)).toThrow(
    expect.objectContaining({ message: `hopwise: ${line} (see npm test -- --help)` }),
  );
});

it('names an unknown option where other words are allowed', () => {
  expect(() => readFreshArguments(['--nope'])).toThrow(
    expect.objectContaining({ message: 'hopwise: unknown option --nope (see npm run test:fresh -- --help)' }),
  );
});
