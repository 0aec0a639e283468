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

it.each([
  [['--nope'], 'unknown option --nope', 'npm run test:fresh'],
  [['x'], 'expected options, got x', 'npm run test:fresh'],
  [['--only', 'root-start', 'x', '--', 'y'], 'expected options, got x', 'npm run test:fresh'],
  [
    ['--only', 'root'],
    '--only: expected some of root-start,root-test,user-start,user-test, got root',
    'npm run test:fresh',
  ],
  [['--', 'x'], 'expected options, got x', 'npm test'],
])('npm run test:fresh -- %j is refused in one line', (words, line, command) => {
  expect(() => readFreshArguments(words)).toThrow(
    expect.objectContaining({ message: `hopwise: ${line} (see ${command} -- --help)` }),
  );
});

it('takes words for the commands of fresh roots after --', () => {
  expect(readFreshArguments(['--only', 'root-test', '--', '--only', 'unit'])).toEqual({
    runs: ['root-test'],
    words: ['--only', 'unit'],
  });
  expect(readFreshArguments(['--only', 'root-start', '--', 'https://a.test/'])).toEqual({
    runs: ['root-start'],
    words: ['https://a.test/'],
  });
});
