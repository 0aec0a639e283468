/** The outcome of the Python tests, read from pytest's report. */
import { expect, test } from 'vitest';
import { outcomeOfJunit } from '../../suites/junit-outcome.ts';

test('counts what passed, failed and was skipped', () => {
  const report = `<testsuites><testsuite name="pytest">
    <testcase classname="tests.test_a" name="test_one" time="0.1" />
    <testcase classname="tests.test_a" name="test_two[x]" time="0.1"><failure message="assert 1 == 2&#10;more">trace</failure></testcase>
    <testcase classname="tests.test_b" name="test_three" time="0.1"><skipped message="no" /></testcase>
    <testcase classname="tests.test_b" name="test_four" time="0.1"><error message="broken fixture">trace</error></testcase>
  </testsuite></testsuites>`;
  expect(outcomeOfJunit(report)).toEqual({
    passed: 1,
    failed: 2,
    skipped: 1,
    files: [],
    failures: [
      { where: 'tests.test_a', what: 'test_two[x]', why: 'assert 1 == 2\nmore' },
      { where: 'tests.test_b', what: 'test_four', why: 'broken fixture' },
    ],
  });
});
