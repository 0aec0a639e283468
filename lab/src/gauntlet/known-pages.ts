/** `gauntlet.json`: what is true of the drawn pages, by which readings of their recordings are judged. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstLine } from '@hopwise/contract';
import * as z from 'zod';
import { UserError } from '../command/errors.ts';
import { replaceFileWithin } from '../command/write-file.ts';
import { siteSchema } from '../sites/site.ts';
import type { DrawnPage, PageNode } from './draw-page.ts';
import { SPLITS } from './splits.ts';

const FILE = 'gauntlet.json';

const requestSchema = z.object({
  url: z.string(),
  type: z.string(),
  /** URL of the answer that causes the request; null for the document. */
  parent: z.string().nullable(),
  /**
   * How: `markup` (or a redirect) and `style` when the parent has arrived that far, `script` when the parent has run, `answer` when the parent, a
   * fetch, has ended.
   */
  means: z.enum(['navigation', 'markup', 'style', 'script', 'answer']),
  /** URLs of what must have arrived and run besides the parent: parser-blocking scripts and styles. */
  blockers: z.array(z.string()),
  /** Milliseconds, like all times: between the run of the parent and the request. */
  delayMs: z.number(),
  /** Main-thread time of the script itself before it requests anything, by the clock: a slower processor does not lengthen it. */
  busyMs: z.number(),
  /** Server time to the first byte. */
  thinkMs: z.number(),
  bytes: z.number(),
});

const pageSchema = z.object({
  family: z.string(),
  /** Factor by which the browser's main thread was slower. */
  cpuSlowdown: z.number(),
  /** As served; `extraRttMs` is beyond the network's round trip. */
  origins: siteSchema.shape.origins,
  /** In no particular order; parents before children. */
  requests: z.array(requestSchema),
});

const knownSchema = z.object({
  format: z.literal('hopwise-gauntlet'),
  version: z.literal(1),
  split: z.enum(SPLITS),
  seed: z.int(),
  stack: z.enum(['go', 'nginx-quiche']).default('go'),
  /** By name. */
  pages: z.record(z.string(), pageSchema),
});

export type KnownRequest = z.infer<typeof requestSchema>;
export type KnownPage = z.infer<typeof pageSchema>;
type KnownPages = z.infer<typeof knownSchema>;

const MEANS: Record<PageNode['means'], KnownRequest['means']> = {
  navigation: 'navigation',
  redirect: 'markup',
  markup: 'markup',
  preload: 'markup',
  style: 'style',
  script: 'script',
};

/** What is true of a drawn page. */
export function knownPage({ family, cpuSlowdown, origins, nodes }: DrawnPage): KnownPage {
  const used = new Set(nodes.map(({ origin }) => origin));
  return {
    family,
    cpuSlowdown,
    origins: origins.filter(({ origin }) => used.has(origin)),
    requests: nodes.map((node) => ({
      url: node.url,
      type: node.type,
      parent: (node.after ?? node.parent)?.url ?? null,
      means: node.after ? 'answer' : MEANS[node.means],
      blockers: blockersOf(node),
      delayMs: node.delayMs,
      busyMs: node.busyMs,
      thinkMs: node.thinkMs,
      bytes: node.bytes,
    })),
  };
}

/** What a request waits for besides its parent: what holds the parser up, or layout. */
function blockersOf(node: PageNode): string[] {
  const { parent } = node;
  if (parent === null || node.after !== null) return [];
  // Frames are not preloaded: the parser must reach them.
  if (node.type === 'iframe') return others(parserBlockers(node, parent), node);
  // Fonts and backgrounds are requested at layout, which waits for everything that blocks rendering.
  if (node.means === 'style') return others(blocking(parent.parent ?? parent), parent);
  // A script is preloaded, but runs only once the parser has reached it.
  if (node.means !== 'script' || parent.type !== 'script' || parent.means !== 'markup') return [];
  return parent.parent === null ? [] : others(parserBlockers(parent, parent.parent), parent);
}

/** Scripts that block the parser before `node`, and styles, which hold such scripts up (HTML, "a style sheet that is blocking scripts"). */
function parserBlockers(node: PageNode, document: PageNode): PageNode[] {
  const scripts = blocking(document).filter(
    ({ type, place, request }) =>
      type === 'script' && (place < node.place || (place === node.place && request.id < node.request.id)),
  );
  if (scripts.length === 0 && !node.blocksParser) return [];
  return [...blocking(document).filter(({ type }) => type === 'style'), ...scripts];
}

const blocking = ({ children }: PageNode): PageNode[] =>
  children.filter(
    ({ type, means, blocksParser }) => means === 'markup' && (type === 'style' || blocksParser),
  );

const others = (nodes: readonly PageNode[], but: PageNode): string[] =>
  nodes.filter((node) => node !== but).map(({ url }) => url);

/**
 * Writes the file into a folder of measured loads; pages of earlier runs stay.
 *
 * @throws UserError when the folder is of another split, seed or stack
 */
export async function writeKnownPages(dir: string, known: KnownPages): Promise<void> {
  const present = await readKnownPages(dir);
  if (present !== null && (present.split !== known.split || present.seed !== known.seed)) {
    throw new UserError(
      `${dir}: its loads are of --split ${present.split} --seed ${present.seed}: use another folder`,
      2,
    );
  }
  if (present !== null && present.stack !== known.stack) {
    throw new UserError(`${dir}: its loads are of other servers (${present.stack}): use another folder`, 2);
  }
  const pages = { ...present?.pages, ...known.pages };
  await replaceFileWithin(dir, FILE, `${JSON.stringify({ ...known, pages })}\n`);
}

/**
 * @returns null for a folder without drawn pages
 * @throws UserError naming the entry that is not as expected
 */
export async function readKnownPages(dir: string): Promise<KnownPages | null> {
  const file = join(dir, FILE);
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UserError(`${file}: ${firstLine(error)}`, 2);
  }
  const parsed = knownSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new UserError(`${file}: ${issue?.path.join('.') || 'top level'}: ${issue?.message}`, 2);
}
