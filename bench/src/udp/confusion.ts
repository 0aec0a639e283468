/** Compares probes' verdicts on UDP with the link's treatment of UDP. */

import { median, type UdpVerdict } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { medianOrNull } from '@hopwise/lab/statistics';

const VERDICTS = ['open', 'policed', 'blocked', 'unknown'] as const;

/** One probe's verdict. */
export interface JudgedProbe {
  page: string;
  /** Name of the network, with UDP's rate where it was overridden. */
  network: string;
  seed: number;
  udp: LabNetwork['udp'];
  verdict: UdpVerdict;
  /** Response bytes of all of its transfers. */
  bytes: number;
  /** From the start of the helper's command to its end. */
  elapsedMs: number;
}

interface ConfusionRow {
  network: string;
  /** What the link does to UDP, in words. */
  treatment: string;
  probes: number;
  counts: Record<UdpVerdict['verdict'], number>;
  /** Smallest and largest ratio of HTTP/3's rate to HTTP/2's; null where none was measured. */
  ratio: { low: number; high: number } | null;
  /** Median of the reported rate over the policer's, where both exist; the reported rate excludes headers. */
  rateShare: number | null;
}

/** A row for each network, in order of appearance. */
export function confusion(judged: readonly JudgedProbe[]): ConfusionRow[] {
  const networks = [...new Set(judged.map(({ network }) => network))];
  return networks.map((network) => {
    const own = judged.filter((one) => one.network === network);
    const { udp } = own[0]!;
    const means = own.flatMap(({ verdict }) => verdict.ratio?.mean ?? []);
    const shares = own.flatMap(({ verdict: { verdict, quicBps } }) =>
      typeof udp === 'object' && verdict === 'policed' && quicBps !== null
        ? [quicBps / (udp.policedMbps * 1e6)]
        : [],
    );
    return {
      network,
      treatment: treatmentOf(udp),
      probes: own.length,
      counts: Object.fromEntries(
        VERDICTS.map((verdict) => [verdict, own.filter((one) => one.verdict.verdict === verdict).length]),
      ) as ConfusionRow['counts'],
      ratio: means.length > 0 ? { low: Math.min(...means), high: Math.max(...means) } : null,
      rateShare: medianOrNull(shares),
    };
  });
}

/** Renders a table for a terminal, followed by the wrong verdicts. */
export function renderConfusion(judged: readonly JudgedProbe[]): string {
  const head = ['network', 'UDP', 'probes', ...VERDICTS, 'h3 over h2', 'rate found'];
  const rows = confusion(judged).map(({ network, treatment, probes, counts, ratio, rateShare }) => [
    network,
    treatment,
    String(probes),
    ...VERDICTS.map((verdict) => String(counts[verdict])),
    ratio ? `${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)}` : '–',
    rateShare === null ? '–' : `${Math.round(100 * rateShare)}%`,
  ]);
  const lines = [table([head, ...rows])];
  const wrong = judged.filter(isWrong);
  const certain = judged.filter(({ verdict }) => verdict.verdict !== 'unknown').length;
  const most = (of: (one: JudgedProbe) => number) => Math.max(0, ...judged.map(of));
  const seconds = (median(judged.map(({ elapsedMs }) => elapsedMs)) / 1000).toFixed(1);
  lines.push(
    '',
    `a probe takes ${seconds} s (median; ${(most(({ elapsedMs }) => elapsedMs) / 1000).toFixed(1)} s at most) and ${Math.round(most(({ bytes }) => bytes) / 1000)} kB at most`,
    `${wrong.length} of ${certain} verdicts are wrong, ${judged.length - certain} of ${judged.length} probes are not certain`,
  );
  for (const { page, network, seed, verdict } of wrong) {
    lines.push(`${page} on ${network}, seed ${seed}: ${verdict.verdict}: ${verdict.reason}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Whether a verdict is certain and differs from the link's treatment. */
export function isWrong({ udp, verdict: { verdict } }: JudgedProbe): boolean {
  return verdict !== 'unknown' && verdict !== (typeof udp === 'object' ? 'policed' : udp);
}

function treatmentOf(udp: LabNetwork['udp']): string {
  return typeof udp === 'object' ? `policed at ${udp.policedMbps}` : udp;
}
