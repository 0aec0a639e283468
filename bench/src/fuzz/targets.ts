import type { FuzzTarget } from './target.ts';
import { h1Answers, h2Answers, h3Answers, responseSections } from './targets/answers.ts';
import { cluster, networkFlags, pcwnd, verification } from './targets/figures.ts';
import { connectHeads, http1Heads } from './targets/heads.ts';
import { control, exchangeFrames, nativeMessages } from './targets/messages.ts';
import { altSvc, dnsAnswers, serviceRecords } from './targets/names.ts';
import { pac } from './targets/pac.ts';
import { har, recording } from './targets/recordings.ts';

/** By name, as `--target` takes it. */
export const TARGETS: Readonly<Record<string, FuzzTarget>> = {
  har,
  recording,
  verification,
  'network-flags': networkFlags,
  pcwnd,
  cluster,
  pac,
  'native-messages': nativeMessages,
  'exchange-frames': exchangeFrames,
  'service-records': serviceRecords,
  'alt-svc': altSvc,
  'response-sections': responseSections,
  // Servers and sockets: fewer executions a second.
  control,
  dns: dnsAnswers,
  'connect-heads': connectHeads,
  'http1-heads': http1Heads,
  'h1-answers': h1Answers,
  'h2-answers': h2Answers,
  'h3-answers': h3Answers,
};
