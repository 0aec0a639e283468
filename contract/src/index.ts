/**
 * What the packages of hopwise agree on: schemas and types of what passes between them. No package below it, and no logic
 * but what both ends of a message must do alike (`verification-parts.ts`, `this-machine.ts`).
 */
export * from './ids.ts';
export type * from './known-network.ts';
export * from './messages.ts';
export type * from './network-path.ts';
export * from './pins.ts';
export type * from './prediction.ts';
export * from './protocol.ts';
export type * from './recording.ts';
export { originSchema } from './schemas.ts';
export * from './this-machine.ts';
export * from './transfer-plan.ts';
export * from './verification.ts';
export * from './verification-parts.ts';
export type * from './waterfall-entry.ts';
