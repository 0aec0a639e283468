import { create } from 'xmlbuilder2';
import { type CheckRow, showChange, showJudgement } from './show-check.ts';

/**
 * The figures as JUnit XML, the form that CI systems read: a test suite for each page and network, a test case for each limit and for the
 * comparison with the baseline.
 */
export function junitOf(rows: readonly CheckRow[]): string {
  // XML 1.0 cannot hold all characters (section 2.2).
  const root = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\uFFFD' }).ele(
    'testsuites',
  );
  root.att({ name: 'hopwise check', ...countsOf(rows) });
  for (const row of rows) {
    const { file, network } = row;
    const suite = root.ele('testsuite', { name: `${file} on ${network}`, ...countsOf([row]) });
    for (const { name, message, outcome } of casesOf(row)) {
      const test = suite.ele('testcase', { classname: `${file}.${network}`, name });
      if (outcome === 'passed') test.ele('system-out').txt(message);
      else if (outcome === 'skipped') test.ele('skipped', { message });
      else test.ele('failure', { message, type: 'budget' });
    }
  }
  return `${root.end({ prettyPrint: true })}\n`;
}

interface TestCase {
  name: string;
  message: string;
  outcome: 'passed' | 'failed' | 'skipped';
}

function casesOf({ judgements, unjudged, loadTimeMs, change }: CheckRow): TestCase[] {
  return [
    ...judgements.map((judgement): TestCase => {
      const outcome = judgement.isBreach ? 'failed' : 'passed';
      return { name: judgement.figure, message: showJudgement(judgement), outcome };
    }),
    ...unjudged.map((name): TestCase => ({ name, message: 'the recording shows none', outcome: 'skipped' })),
    ...(change === null
      ? []
      : [
          {
            name: 'baseline',
            message: showChange(loadTimeMs, change),
            outcome: change.verdict === 'slower' ? 'failed' : 'passed',
          } as const,
        ]),
  ];
}

function countsOf(rows: readonly CheckRow[]): Record<string, number> {
  const cases = rows.flatMap(casesOf);
  const count = (wanted: TestCase['outcome']) => cases.filter(({ outcome }) => outcome === wanted).length;
  return { tests: cases.length, failures: count('failed'), errors: 0, skipped: count('skipped') };
}
