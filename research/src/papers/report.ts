import { table, wrap } from '@hopwise/contract/terminal';
import { type Claim, type Finding, PAPERS } from './claim.ts';
import { judgeFinding, type Verdict } from './judge-claim.ts';

/** A claim with what a run found. */
export interface JudgedClaim extends Pick<Claim, 'id' | 'paper' | 'place' | 'stated'> {
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

export function judge({ id, paper, place, stated }: Claim, finding: Finding): JudgedClaim {
  return { id, paper, place, stated, finding, verdict: judgeFinding(finding) };
}

/** One row a claim, with the evidence below it. */
export function renderTable(judged: readonly JudgedClaim[]): string {
  const rows = judged.flatMap((each) => [
    [each.id, each.place, each.verdict, each.stated],
    ...evidence(each)
      .flatMap((line) => wrap(line, EVIDENCE_WIDTH))
      .map((line) => ['', '', '', `  ${line}`]),
  ]);
  return `${table([['claim', 'place', 'verdict', 'stated'], ...rows])}\n\n${counts(judged.map(({ verdict }) => verdict))}\n`;
}

/** What `renderMarkdown` writes. */
interface Report {
  /** All claims there are, in their order. */
  claims: readonly Pick<Claim, 'id' | 'paper'>[];
  /** Those of this run. */
  judged: readonly JudgedClaim[];
  command: string;
  /** The file as an earlier run has written it: what it has of other claims stays. */
  before?: string;
}

/** Makes `docs/papers.md`: a table for each paper, with a short row a claim, and the evidence folded below it. */
export function renderMarkdown({ claims, judged, command, before = '' }: Report): string {
  const entries = readEntries(before);
  for (const each of judged) {
    // What an earlier run has measured says more than that this one could not.
    if (each.finding.kind !== 'skipped' || !entries.has(each.id)) entries.set(each.id, entryOf(each));
  }
  const sections = PAPERS.flatMap((paper) => {
    const own = claims.flatMap((claim) => (claim.paper === paper ? (entries.get(claim.id) ?? []) : []));
    return own.length === 0 ? [] : [{ paper, entries: own }];
  });
  const verdicts = sections.flatMap((section) =>
    section.entries.map(({ row }) => / \| ([a-z ]+) \|$/.exec(row)![1] as Verdict),
  );
  return [
    '# Figures of the papers',
    `${counts(verdicts)}.`,
    "A verdict rests on the kernel, on other real servers, on Chromium, on sessions measured in the lab or on data that the authors released, never on the project's own models alone. What was found, what hopwise did and what a claim holds by is folded below each table.",
    `Last written by \`${command}\`, which renews the claims that it ran.`,
    ...sections.map((section) =>
      [
        `## ${TITLES[section.paper]}`,
        '',
        '| claim | place | stated | verdict |',
        '| --- | --- | --- | --- |',
        ...section.entries.map(({ row }) => row),
        '',
        '<details>',
        `<summary>Evidence on ${section.entries.length} claims</summary>`,
        '',
        ...section.entries.map(({ found }) => found),
        '',
        '</details>',
      ].join('\n'),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

/** What the file has of a claim: its row of the table, and its item of the folded list. */
interface Entry {
  row: string;
  found: string;
}

const entryOf = (each: JudgedClaim): Entry => ({
  row: `| ${[each.id, each.place, each.stated, each.verdict].map(cell).join(' | ')} |`,
  found: [`- **${each.id}**`, ...evidence(each).map((line) => `  - ${line}`)].join('\n'),
});

/** Reads the entries of a file that `renderMarkdown` wrote, by claim. */
function readEntries(text: string): Map<string, Entry> {
  const rows = new Map([...text.matchAll(/^\| (\S+) \| .* \|$/gm)].map(([row, id]) => [id, row]));
  const items = text.matchAll(/^- \*\*(\S+)\*\*(?:\n {2}- .*)+$/gm);
  return new Map(
    [...items].flatMap(([found, id]) => {
      const row = rows.get(id);
      return row === undefined ? [] : [[id!, { row, found }]];
    }),
  );
}

function evidence({ finding }: JudgedClaim): string[] {
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
