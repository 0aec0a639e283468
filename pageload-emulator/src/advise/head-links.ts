import type { ServedPage } from './document.ts';
import { lateOrigins } from './late-origins.ts';
import { lateResources } from './late-resources.ts';

/** A `<link>` for the beginning of a document's head. */
export interface HeadLink {
  rel: 'preconnect' | 'preload';
  href: string;
  /** The kind of resource that is preloaded. */
  as?: 'script' | 'style';
  /** Whether the connection is for requests without credentials. */
  crossorigin?: true;
}

/** The link as HTML. */
export function linkTag({ rel, href, as, crossorigin }: HeadLink): string {
  const address = href.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<link rel="${rel}" href="${address}"${as ? ` as="${as}"` : ''}${crossorigin ? ' crossorigin' : ''}>`;
}

/** What the head of the page's document could announce. */
export function headLinks(kind: HeadLink['rel'], page: ServedPage): HeadLink[] {
  return kind === 'preconnect'
    ? lateOrigins(page).map(({ origin, anonymous }) => ({
        rel: kind,
        href: origin,
        ...(anonymous && { crossorigin: true as const }),
      }))
    : lateResources(page).map(({ url, as }) => ({ rel: kind, href: url, as }));
}
