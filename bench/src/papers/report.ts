import { table, wrap } from '@hopwise/lab/output/table';
import type { Claim, Finding } from './claim.ts';
import { judgeFinding, type Verdict } from './judge-claim.ts';

/** A claim with what a run found. */
export interface Judged extends Pick<Claim, 'id' | 'paper' | 'place' | 'stated'> {
  finding: Finding;
  verdict: Verdict;
}

export const TITLES = {
  econ: 'ECON (Cao et al., IMC 2019)',
  wisetrans: 'WiseTrans (Zhang et al., WWW 2021)',
  wise: 'TCP WISE (Nie et al., IWQoS 2018)',
  vtl: 'VTL (Bonfoh et al., NETWORKING 2021)',
  blitz: 'Blitz-started QUIC (Rüth et al., slides)',
} as const;

const EVIDENCE_WIDTH = 88;

export function judge({ id, paper, place, stated }: Claim, finding: Finding): Judged {
  return { id, paper, place, stated, finding, verdict: judgeFinding(finding) };
}

/** One row a claim, with the evidence below it. */
export function renderTable(judged: readonly Judged[]): string {
  const rows = judged.flatMap((each) => [
    [each.id, each.place, each.verdict, each.stated],
    ...evidence(each)
      .flatMap((line) => wrap(line, EVIDENCE_WIDTH))
      .map((line) => ['', '', '', `  ${line}`]),
  ]);
  return `${table([['claim', 'place', 'verdict', 'stated'], ...rows])}\n\n${counts(judged.map(({ verdict }) => verdict))}\n`;
}

/**
 * `docs/papers.md`.
 *
 * @param before the file as an earlier run has written it: its claims that this run has not measured stay
 */
export function renderMarkdown(judged: readonly Judged[], command: string, before = ''): string {
  const kept = before.split(/^(?=## )/m).slice(1);
  const sections = (Object.keys(TITLES) as (keyof typeof TITLES)[]).flatMap((paper) => {
    const own = judged.filter((each) => each.paper === paper);
    const earlier = kept.find((section) => section.startsWith(`## ${TITLES[paper]}\n`));
    if (own.length > 0) return [renderSection(paper, own, earlier)];
    return earlier === undefined ? [] : [earlier.trimEnd()];
  });
  const verdicts = sections.flatMap((section) =>
    [...section.matchAll(/^\| .* \| ([a-z ]+) \|$/gm)].map(([, verdict]) => verdict as Verdict),
  );
  return [
    '# Figures of the papers',
    `Written by \`${command}\`, which renews the claims that it measured. A verdict rests on the kernel, on other real senders or on data that the authors released, never on the project's own models alone.`,
    `${counts(verdicts)}.`,
    ...sections,
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

function renderSection(paper: keyof typeof TITLES, judged: readonly Judged[], before = ''): string {
  const earlier = before.split('\n');
  const rows = judged.map((each) => {
    const own = [each.id, each.place, each.stated, evidence(each).join('<br>'), each.verdict];
    const kept = earlier.find((line) => line.startsWith(`| ${cell(each.id)} |`));
    return (each.finding.kind === 'skipped' ? kept : undefined) ?? `| ${own.map(cell).join(' | ')} |`;
  });
  return [
    `## ${TITLES[paper]}`,
    '',
    '| claim | place | stated | found | verdict |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function evidence({ finding }: Judged): string[] {
  if (finding.kind !== 'measured') return [finding.reason];
  return [
    `${finding.real.source}: ${finding.real.text}`,
    `hopwise: ${finding.hopwise}`,
    `holds if ${finding.real.bounds}`,
  ];
}

function counts(verdicts: readonly Verdict[]): string {
  const order: Verdict[] = ['reproduced', 'refuted', 'not comparable', 'not run'];
  return order
    .map((verdict) => `${verdicts.filter((each) => each === verdict).length} ${verdict}`)
    .join(', ');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
