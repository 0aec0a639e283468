import { expect, test } from 'vitest';
import { selectTests } from '../../suites/changed.ts';

test('a change of a package runs its tests and those of all that use it', () => {
  expect(selectTests(['model/src/explore/explorer.ts'])).toEqual({
    suites: ['lint', 'unit', 'integration', 'alone', 'e2e'],
    packages: ['model', 'extension', 'server', 'bench', 'research', 'e2e'],
  });
  expect(selectTests(['research/src/main.ts']).packages).toEqual(['research']);
  expect(selectTests(['contract/src/ids.ts']).packages).toHaveLength(11);
});

test('a change of the helper runs the tests of the extension, which start it', () => {
  expect(selectTests(['native-host/src/host.ts']).packages).toContain('extension');
});

test('a change of a test alone runs its package; that of test support also those who use it', () => {
  expect(selectTests(['native-host/test/pins/pins.test.ts']).packages).not.toContain('lab');
  expect(selectTests(['native-host/test/support/server.ts']).packages).toContain('lab');
});

test('a change of what all share runs everything', () => {
  expect(selectTests(['package-lock.json']).packages).toHaveLength(11);
});

test('documentation runs the tests of documentation; programs in other languages their own', () => {
  expect(selectTests(['README.md', 'docs/a.png'])).toEqual({
    suites: ['lint', 'unit', 'integration', 'alone'],
    packages: ['scripts'],
  });
  expect(selectTests(['model/python/hopwise_model/costs.py'])).toEqual({
    suites: ['lint', 'python'],
    packages: [],
  });
  expect(selectTests(['lab/go/link/queue.go']).suites).toContain('go');
  expect(selectTests([])).toEqual({ suites: ['lint'], packages: [] });
});
