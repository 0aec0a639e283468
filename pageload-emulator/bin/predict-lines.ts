import { createInterface } from 'node:readline';
import { EmulationError, InputError } from '@hopwise/pageload-emulator';
import { z } from 'zod';
import { toJsonLine } from './output.ts';

/** One line of the input of `hopwise predict --jsonl`. */
const questionSchema = z.strictObject({
  /** Is repeated in the answer. */
  id: z.string().max(10_000),
  /** File of the recording; standard input has the questions. */
  path: z.string().check(
    z.minLength(1),
    z.refine((path) => path !== '-'),
  ),
  /** Which page load of the file to take: its number from 1, or its URL; the first when absent. */
  page: z.union([z.int().min(1), z.string().min(1).max(10_000)]).optional(),
  /** Whether to add what changes of the page's own servers gain. */
  advise: z.boolean().default(false),
});

export type LineQuestion = z.infer<typeof questionSchema>;

/** One line of the output: what was asked for, or why there is no answer. */
type LineAnswer = { id: string | null } & ({ error: string } | object);

/**
 * Answers each line of JSON by one line, in order, so that one process serves many recordings. A line or a recording that
 * cannot be used gets an answer with its error, and the next line is read.
 *
 * @param ask throws InputError or EmulationError for a recording that cannot be used
 */
export async function* answerLines(
  input: NodeJS.ReadableStream,
  ask: (question: LineQuestion) => Promise<object>,
): AsyncGenerator<string> {
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (line.trim() !== '') yield toJsonLine(await answerLine(line, number, ask));
  }
}

async function answerLine(
  line: string,
  number: number,
  ask: (question: LineQuestion) => Promise<object>,
): Promise<LineAnswer> {
  const question = parseQuestion(line);
  if (question === null) {
    return { id: null, error: `line ${number}: expected {"id": "…", "path": "…", "advise": false}` };
  }
  try {
    return { id: question.id, ...(await ask(question)) };
  } catch (error) {
    return { id: question.id, error: describeError(error) };
  }
}

function parseQuestion(line: string): LineQuestion | null {
  try {
    return questionSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

/** A defect that one recording brings to light must not end the run of all others: its answer says where it arose. */
function describeError(error: unknown): string {
  if (error instanceof InputError || error instanceof EmulationError) return error.message;
  const { message, stack } = error as Error;
  const place = /at .*/.exec(stack ?? '')?.[0] ?? 'at an unknown place';
  return `defect of hopwise: ${message} ${place}`;
}
