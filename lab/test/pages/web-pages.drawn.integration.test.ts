import { describe, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { generateSite, type SiteSpec } from '../../src/pages/page-generator.ts';
import { webPageSpec } from '../../src/pages/web-pages.ts';
import { visitSite } from '../support/visit-site.ts';

/** A page of each kind, and the smallest and a large one of the published percentiles. */
const NAMES = ['web-0', 'web-1', 'web-2', 'web-p10', 'web-p75'];

describe('pages drawn from the published distribution, in Chromium', () => {
  it.each(drawShare(NAMES, 2))('%s requests exactly what its site lists', (name) =>
    visitSite(generateSite(webPageSpec(name) as SiteSpec), ({ load }) => load()),
  );
});
