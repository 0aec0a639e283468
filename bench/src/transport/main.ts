/** `npm run bench -- transport`: what the extension's choice between TCP and QUIC does on measured sessions. */
import { groupBy, mean } from '@hopwise/contract';
import { table, wrap } from '@hopwise/contract/terminal';
import { UserError } from '@hopwise/lab/command/errors';
import { someOf } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { SPLITS, type Split } from '@hopwise/lab/gauntlet/splits';
import { readSessions } from '@hopwise/lab/requests/session-row';
import { Option } from 'commander';
import { sampleStandardDeviation } from 'simple-statistics';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { type Policy, pairSessions, replaySession, type SessionPair } from './replay-sessions.ts';

const TABLE = 'model/data/requests.jsonl.gz';
const WIDTH = 120;

interface Options {
  split: Split[];
  changes: boolean;
  json: boolean;
}

const POLICIES: Record<string, Policy> = {
  'always TCP': { always: 'tcp' },
  'always QUIC': { always: 'quic' },
  'as shipped': { tries: 'as-shipped' },
  '… without rollback': { tries: 'without-rollback' },
  'TCP first': { tries: 'when-slower' },
  'best by phase': { always: 'best' },
  '… with the other stack': { always: 'best-with-other-stack' },
  '… in its first half': { always: 'best-so-far' },
};

await runProgram(async () => {
  const command = parseOrExit(
    benchCommand(
      'transport',
      'Replays measured sessions request by request with the chooser that `auto` pins use, from TCP on, with reports every two seconds.',
    )
      .argument('[table]', 'table or folder of `npm run lab -- requests`', TABLE)
      .addOption(
        new Option('--split <names>', 'splits, separated by commas; test is for final reports')
          .argParser(someOf(SPLITS))
          .default(['train', 'validation'] satisfies Split[], 'train,validation'),
      )
      .option('--changes', 'each kind of change by itself', false)
      .option('--json', 'print the figures as JSON and nothing else', false),
  );
  const [path = TABLE] = command.processedArgs as string[];
  const { split: splits, changes, json } = command.opts<Options>();
  const rows = (await readSessions(path)).filter(({ split }) => splits.some((name) => name === split));
  const pairs = pairSessions(rows);
  if (pairs.length === 0)
    throw new UserError(`${path}: no sessions of ${splits.join(', ')} over both transports`, 2);
  const groups = groupBy(pairs, ({ split, change }) => (changes ? `${split}, ${change}` : split));
  const figures = [...groups].map(([name, own]) => ({
    name,
    sessions: own.length,
    policies: Object.entries(POLICIES).map(([policy, how]) => ({ policy, ...judge(own, how) })),
  }));
  if (json) {
    process.stdout.write(`${JSON.stringify(figures, null, 1)}\n`);
    return;
  }
  for (const { name, sessions, policies } of figures) {
    const rows = policies.map(({ policy, meanMs, overTcpMs, errorMs, switches, rollbacks }) => [
      policy,
      meanMs.toFixed(1),
      policy === 'always TCP'
        ? ''
        : `${overTcpMs < 0 ? '' : '+'}${overTcpMs.toFixed(1)} ± ${errorMs.toFixed(1)}`,
      switches.toFixed(2),
      rollbacks.toFixed(2),
    ]);
    const head = [
      `${name}, ${sessions} pairs`,
      '>ms a request',
      '>beyond always TCP',
      '>switches',
      '>taken back',
    ];
    console.log(`${table([head, ...rows])}\n`);
  }
  const note =
    '"Best by phase" looks back: the transport over which the requests of a phase took less, before a change and after it. The two rows below that know less, what was better with the other stack of servers in the same condition, or in the first half of the phase: they show what of "best" could be foreseen. ± is the standard error over conditions; switches and those taken back are a session. QUIC is not tried where the network hinders UDP from the beginning; what changes in mid-session is not known. "TCP first" tries QUIC only where requests slow down.';
  console.log(wrap(note, WIDTH).join('\n'));
});

interface Judged {
  meanMs: number;
  overTcpMs: number;
  errorMs: number;
  switches: number;
  rollbacks: number;
}

/** Sessions count alike; stacks of one condition go together in the error. */
function judge(pairs: readonly SessionPair[], policy: Policy): Judged {
  const results = pairs.map((pair) => ({
    pair,
    result: replaySession(pair, policy),
    tcpMs: replaySession(pair, { always: 'tcp' }).meanMs,
  }));
  const over = [...groupBy(results, ({ pair }) => pair.condition).values()].map((own) =>
    mean(own.map(({ result, tcpMs }) => result.meanMs - tcpMs)),
  );
  const meanOf = (read: (result: ReturnType<typeof replaySession>) => number): number =>
    mean(results.map(({ result }) => read(result)));
  return {
    meanMs: meanOf(({ meanMs }) => meanMs),
    overTcpMs: mean(results.map(({ result, tcpMs }) => result.meanMs - tcpMs)),
    errorMs: over.length > 1 ? sampleStandardDeviation(over) / Math.sqrt(over.length) : 0,
    switches: meanOf(({ switches }) => switches),
    rollbacks: meanOf(({ rollbacks }) => rollbacks),
  };
}
