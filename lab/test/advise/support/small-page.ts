import { generateSite } from '../../../src/pages/page-generator.ts';

export const smallPage = generateSite({
  kind: 'app',
  seed: 4,
  name: 'small',
  requests: 12,
  origins: 2,
  bytes: 100_000,
  depth: 3,
});
