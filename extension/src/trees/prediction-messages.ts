/** The worker's question to the offscreen document, and the answer. */
import { FEATURES } from '@hopwise/model';
import * as z from 'zod/mini';

export const predictionQuestionSchema = z.object({
  type: z.literal('predict-transport'),
  transport: z.enum(['tcp', 'quic']),
  /** Null where missing, as JSON has no NaN. */
  row: z.array(z.nullable(z.number())).check(z.length(FEATURES.length)),
});
export type PredictionQuestion = z.infer<typeof predictionQuestionSchema>;

export const predictionAnswerSchema = z.union([
  z.object({ ok: z.literal(true), logRatio: z.number() }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);
export type PredictionAnswer = z.infer<typeof predictionAnswerSchema>;
