/** The messages between the command line and a running host: one each way on a connection. */
import {
  errorCode,
  MAX_PINS,
  originSchema,
  pinKindSchema,
  pinMinutesSchema,
  pinStateSchema,
} from '@hopwise/contract';
import * as z from 'zod/mini';

/** To be raised when a message changes its meaning: a host may be older than the command that connects to it. */
export const CONTROL_VERSION = 1;

/** Several times the size of a request with the longest origin. */
export const MAX_REQUEST_BYTES = 4096;
/** Enough for `MAX_PINS` pins with the longest origins and reasons. */
export const MAX_ANSWER_BYTES = 512 * 1024;

const version = z.int();

export const controlRequest = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('pin'),
    version,
    origin: originSchema,
    kind: pinKindSchema,
    minutes: pinMinutesSchema,
    persistent: z.boolean(),
    allowLocal: z.optional(z.boolean()),
  }),
  /** An `origin` of null stands for all pins. */
  z.object({ type: z.literal('unpin'), version, origin: z.nullable(originSchema) }),
  z.object({ type: z.literal('status'), version }),
]);

export const controlAnswer = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('status'),
    /** The browser that the host belongs to, as `--browser` names it. */
    browser: z.string().check(z.maxLength(32), z.regex(/^[a-z]+$/)),
    pins: z.array(pinStateSchema).check(z.maxLength(MAX_PINS)),
    /** Origins that this request has unpinned. */
    unpinned: z.array(originSchema).check(z.maxLength(MAX_PINS)),
  }),
  z.object({
    type: z.literal('error'),
    code: errorCode,
    /** What went wrong, one line. */
    message: z.string().check(z.maxLength(1024), z.regex(/^\P{Cc}*$/u)),
  }),
]);

export type ControlRequest = z.infer<typeof controlRequest>;
export type ControlAnswer = z.infer<typeof controlAnswer>;
export type ControlStatus = Extract<ControlAnswer, { type: 'status' }>;
