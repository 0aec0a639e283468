export type * from './graph/page-graph.ts';
export type * from './path/network-path.ts';
export type * from './prediction.ts';
export * from './protocol.ts';
export type * from './recording/recording.ts';
