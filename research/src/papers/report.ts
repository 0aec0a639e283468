import { table, wrap } from '@hopwise/lab/output/table';
import { type Claim, type Finding, PAPERS } from './claim.ts';
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

/** What `renderMarkdown` writes. */
export interface Report {
  /** All claims there are, in their order. */
  claims: readonly Pick<Claim, 'id' | 'paper'>[];
  /** Those of this run. */
  judged: readonly Judged[];
  command: string;
  /** The file as an earlier run has written it: its rows of other claims stay. */
  before?: string;
}

/** `docs/papers.md`. */
export function renderMarkdown({ claims, judged, command, before = '' }: Report): string {
  const rows = new Map<string, string>();
  for (const [row, id] of before.matchAll(/^\| (\S+) \| .* \|$/gm)) rows.set(id!, row);
  for (const each of judged) {
    // What an earlier run has measured says more than that this one could not.
    if (each.finding.kind !== 'skipped' || !rows.has(each.id)) rows.set(each.id, rowOf(each));
  }
  const sections = PAPERS.flatMap((paper) => {
    const own = claims.flatMap((claim) => (claim.paper === paper ? (rows.get(claim.id) ?? []) : []));
    return own.length === 0 ? [] : [{ paper, rows: own }];
  });
  const verdicts = sections.flatMap((section) =>
    section.rows.map((row) => / \| ([a-z ]+) \|$/.exec(row)![1] as Verdict),
  );
  return [
    '# Figures of the papers',
    `Last written by \`${command}\`, which renews the rows of the claims that it ran. A verdict rests on the kernel, on other real servers, on Chromium or on data that the authors released, never on the project's own models alone.`,
    `${counts(verdicts)}.`,
    ...sections.map((section) =>
      [
        `## ${TITLES[section.paper]}`,
        '',
        '| claim | place | stated | found | verdict |',
        '| --- | --- | --- | --- | --- |',
        ...section.rows,
      ].join('\n'),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

const rowOf = (each: Judged): string =>
  `| ${[each.id, each.place, each.stated, evidence(each).join('<br>'), each.verdict].map(cell).join(' | ')} |`;

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
