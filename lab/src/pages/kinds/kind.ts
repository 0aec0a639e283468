import type { SeededRandom } from '../../random.ts';
import type { FontName } from '../../sites/fonts.ts';
import type { Artist } from '../artwork.ts';
import type { PagePlan, PlannedResource, Proportions, Role } from '../plan.ts';

/** Style of a role's pictures and their displayed size in CSS pixels. */
export interface PictureStyle {
  width: number;
  height: number;
  artist: (random: SeededRandom, index: number) => Artist;
}

/** A kind of page: its proportions and its design. */
export interface Kind {
  proportions: Proportions;
  pictures: Partial<Record<Role, PictureStyle>>;
  /** Fonts in the order in which the rules use them: `F0` for text, `F1` for headings, then `F2` and so on. */
  fonts: { name: FontName; weight: number }[];
  /** Work of one script, in steps of `script()`. */
  steps: number;
  /** The whole HTML document. */
  document(plan: PagePlan, random: SeededRandom): string;
  /** The CSS rules of the page's design; `@font-face`, `@import` and backgrounds are added to them. */
  rules: string;
  /** Document in a frame that shows `images` and runs `scripts`. */
  frame(resource: PlannedResource, random: SeededRandom): string;
  /** What a script does besides loading its children; may use nothing but the DOM. */
  statements(resource: PlannedResource, random: SeededRandom): string;
  /** Text beside a picture that a script inserts. */
  caption(random: SeededRandom, index: number): { title: string; detail: string };
}

/** A placeholder for frames; frames fill a page's placeholders in turn. */
export function frameSlot(plan: PagePlan, slot: number, slots: number, title: string): string {
  const frames = plan
    .by('frame')
    .filter(({ parent, index }) => parent?.role === 'document' && index % slots === slot);
  return `<div data-slot="frames">${frames.map(({ url }) => `<iframe src="${url}" title="${title}"></iframe>`).join('')}</div>`;
}

/** `<img>` of a planned picture. */
export function img(kind: Kind, resource: PlannedResource, alt: string, className = ''): string {
  const style = kind.pictures[resource.role] as PictureStyle;
  return `<img src="${resource.url}" width="${style.width}" height="${style.height}" alt="${alt}"${className && ` class="${className}"`}>`;
}

/** The head's tags for styles and scripts. */
export function headTags(plan: PagePlan): string {
  return [
    // An inline icon stops the browser from requesting /favicon.ico.
    '<link rel="icon" href="data:,">',
    ...plan.by('style').map(({ url }) => `<link rel="stylesheet" href="${url}">`),
    ...plan.by('head-script').map(({ url }) => `<script src="${url}"></script>`),
    ...plan.by('async-script').map(({ url }) => `<script async src="${url}"></script>`),
    ...plan.by('module').map(({ url }) => `<script type="module" crossorigin src="${url}"></script>`),
    ...plan.by('defer-script').map(({ url }) => `<script defer src="${url}"></script>`),
  ].join('\n');
}

/** Text in each further font, so that the browser fetches it. */
export function fontSamples(plan: PagePlan, used: number, text: string): string {
  return plan
    .by('font')
    .slice(used)
    .map(({ index }) => `<p style="font-family:F${index},sans-serif">${text}</p>`)
    .join('');
}

/** An advertisement-like frame document. */
export function adFrame(kind: Kind, resource: PlannedResource, title: string, call: string): string {
  const pictures = resource.children.filter(({ role }) => role === 'frame-image');
  const scripts = resource.children.filter(({ role }) => role === 'frame-script');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<style>html,body{margin:0;height:100%;font:600 14px system-ui,sans-serif}body{display:flex;align-items:center;gap:14px;padding:0 14px;box-sizing:border-box;background:#f4f1ea;color:#26324a;overflow:hidden}img{border-radius:6px;object-fit:cover;height:72%;width:auto}b{display:block;font-size:16px}a{margin-left:auto;background:#26324a;color:#fff;border-radius:16px;padding:7px 14px;white-space:nowrap}</style>
${scripts.map(({ url }) => `<script src="${url}"></script>`).join('\n')}
</head><body>${pictures.map((picture) => img(kind, picture, '')).join('')}<div><b>${title}</b>Advertisement</div><a>${call}</a></body></html>
`;
}
