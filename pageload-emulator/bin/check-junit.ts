import { create } from 'xmlbuilder2';
import { type CheckRow, showJudgement } from './show-check.ts';

/**
 * The figures as JUnit XML, the form that CI systems read: a test suite for each page and network, a test case for each limit.
 */
export function junitOf(rows: readonly CheckRow[]): string {
  const judgements = rows.flatMap((row) => row.judgements);
  // XML 1.0 cannot hold all characters (section 2.2).
  const root = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\uFFFD' }).ele(
    'testsuites',
  );
  root.att({ name: 'hopwise check', ...countsOf(judgements) });
  for (const { judgements, file, network } of rows) {
    const suite = root.ele('testsuite', { name: `${file} on ${network}`, ...countsOf(judgements) });
    for (const judgement of judgements) {
      const test = suite.ele('testcase', { classname: `${file}.${network}`, name: judgement.figure });
      if (judgement.isBreach) test.ele('failure', { message: showJudgement(judgement), type: 'budget' });
      else test.ele('system-out').txt(showJudgement(judgement));
    }
  }
  return `${root.end({ prettyPrint: true })}\n`;
}

const countsOf = (judgements: CheckRow['judgements']) => ({
  tests: judgements.length,
  failures: judgements.filter(({ isBreach }) => isBreach).length,
  errors: 0,
});
