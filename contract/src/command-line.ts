/** What command lines share: their errors in one form. */
export { isOutOfRoom, readingProblem, unpackingProblem, writingProblem } from './file-problem.ts';
export { refuseUnknownTopic, unifyErrors, usageError } from './usage-errors.ts';
