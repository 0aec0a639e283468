import { newOutcome, type Outcome } from './outcome.ts';

/** The outcome in pytest's report: one `testcase` element a test, with the failure inside. */
export function outcomeOfJunit(xml: string): Outcome {
  const outcome = newOutcome();
  for (const [, attributes = '', body = ''] of xml.matchAll(
    /<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs,
  )) {
    const failure = /<(?:failure|error) message="([^"]*)"/.exec(body);
    if (failure) {
      outcome.failed += 1;
      outcome.failures.push({
        where: /classname="([^"]*)"/.exec(attributes)?.[1] ?? '',
        what: /\bname="([^"]*)"/.exec(attributes)?.[1] ?? '',
        why: failure[1]!.replaceAll('&#10;', '\n'),
      });
    } else if (body.includes('<skipped')) outcome.skipped += 1;
    else outcome.passed += 1;
  }
  return outcome;
}
