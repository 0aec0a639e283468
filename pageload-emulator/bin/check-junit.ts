import { create } from 'xmlbuilder';
import { type CheckRow, showJudgement } from './show-check.ts';

/** Characters that XML 1.0 cannot hold (section 2.2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: They are what is looked for.
const NO_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Cs}/gu;

/**
 * The figures as JUnit XML, the form that CI systems read: a test suite for each page and network, a test case for each limit.
 */
export function junitOf(rows: readonly CheckRow[]): string {
  const judgements = rows.flatMap((row) => row.judgements);
  const root = create('testsuites', { encoding: 'UTF-8' });
  root.att({ name: 'hopwise check', ...countsOf(judgements) });
  for (const { judgements, ...row } of rows) {
    const file = legal(row.file);
    const network = legal(row.network);
    const suite = root.ele('testsuite', { name: `${file} on ${network}`, ...countsOf(judgements) });
    for (const judgement of judgements) {
      const test = suite.ele('testcase', { classname: `${file}.${network}`, name: judgement.figure });
      if (judgement.isBreach) test.ele('failure', { message: showJudgement(judgement), type: 'budget' });
      else test.ele('system-out', showJudgement(judgement));
    }
  }
  return `${root.end({ pretty: true })}\n`;
}

const legal = (text: string): string => text.replace(NO_XML, '\uFFFD');

const countsOf = (judgements: CheckRow['judgements']) => ({
  tests: judgements.length,
  failures: judgements.filter(({ isBreach }) => isBreach).length,
  errors: 0,
});
