import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { firstLine } from '@hopwise/contract';
import { UserError } from '@hopwise/lab/command/errors';
import { CACHE_DIR, ROOT } from '@hopwise/lab/paths';
import * as z from 'zod';

const PYTHON = join(CACHE_DIR, 'model-python/bin/python');
/** The paper's number of folds (its section 4.5.1), and what is enough for a look. */
const FOLDS = { full: 10, quick: 3 };

const byProtocol = z.object({ tcp: z.number(), quic: z.number() });
const judgedSchema = byProtocol.extend({
  chosenMs: z.number(),
  alwaysTcpMs: z.number(),
  alwaysQuicMs: z.number(),
  oracleMs: z.number(),
});
const bySplit = <T extends z.ZodType>(value: T) => z.object({ randomRows: value, heldOutConditions: value });
/** The requests since a switch: shares chosen rightly; null without requests. */
const rollbackSchema = z.object({
  requests: z.int(),
  without: z.number().nullable(),
  with: z.number().nullable(),
});
const importances = z.record(z.string(), z.number());

const tablesSchema = z.object({
  requests: z.int(),
  conditions: z.int(),
  majorityAccuracy: byProtocol,
  candidates: bySplit(
    z.object({
      svm: judgedSchema,
      decisionTree: judgedSchema,
      randomForest: judgedSchema,
      xgboost: judgedSchema,
    }),
  ),
  depths: bySplit(z.record(z.string(), judgedSchema)),
  rollback: z.object({ tcp: rollbackSchema, quic: rollbackSchema }),
  importances: z.object({ tcp: importances, quic: importances }),
});

/** What `npm run model -- tables` prints: accuracies are fractions by the current protocol, costs mean request times. */
export type Tables = z.infer<typeof tablesSchema>;

/**
 * Computes WiseTrans's tables from a request log.
 *
 * @returns null where there is no log
 * @throws UserError naming what the model's command says
 */
export async function readTables(
  log: string,
  { quick, seed }: { quick: boolean; seed: number },
  signal: AbortSignal,
): Promise<Tables | null> {
  if (!(await exists(log))) return null;
  const words = [
    'tables',
    '--log',
    log,
    '--folds',
    `${FOLDS[quick ? 'quick' : 'full']}`,
    '--seed',
    `${seed}`,
  ];
  const path = [join(ROOT, 'model/python'), process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  try {
    const { stdout } = await promisify(execFile)(PYTHON, ['-m', 'hopwise_model', ...words, '--json'], {
      env: { ...process.env, PYTHONPATH: path },
      signal,
    });
    return tablesSchema.parse(JSON.parse(stdout));
  } catch (error) {
    signal.throwIfAborted();
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1);
    throw new UserError(said || firstLine(error), 2);
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
