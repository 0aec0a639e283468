import type { SeededRandom } from '../../random.ts';
import { backdropArtist, iconArtist, portraitArtist, productArtist, sceneArtist } from '../artwork.ts';
import type { PagePlan } from '../plan.ts';
import { headline, paragraph, personName, place, sentence } from '../words.ts';
import { adFrame, fontSamples, frameSlot, headTags, img, type Kind } from './kind.ts';

const SECTIONS = ['World', 'Cities', 'Science', 'Culture', 'Business', 'Sport', 'Travel', 'Food'];

const rules = `
*{box-sizing:border-box}
body{margin:0;font:16px/1.5 F0,Georgia,serif;color:#1a1a1a;background:#fff}
h1,h2,h3,.mast{font-family:F1,F0,Georgia,serif;line-height:1.18;margin:0}
nav,small,.tick,h2,footer{font-family:F2,system-ui,sans-serif}
img{display:block;max-width:100%;height:auto}
.wrap{max-width:1220px;margin:0 auto;padding:0 20px}
.mast{text-align:center;font-size:46px;padding:20px 0 12px;letter-spacing:-.01em}
nav{display:flex;justify-content:center;gap:26px;border:solid #1a1a1a;border-width:1px 0 3px;padding:9px 0;font-size:14px;font-weight:600}
.tick{display:flex;gap:20px;font-size:13px;color:#8d1f1f;padding:10px 0;overflow:hidden;white-space:nowrap}
.front{display:grid;grid-template-columns:2fr 1fr;gap:30px;padding-bottom:26px;border-bottom:1px solid #d8d8d8}
.tick b{flex:none}
.lead img{width:100%;height:360px;object-fit:cover}
.lead h1{font-size:38px;margin:16px 0 8px}
.side article{padding-bottom:14px;margin-bottom:14px;border-bottom:1px solid #e5e5e5}
.side img{width:100%;height:170px;object-fit:cover;margin-bottom:10px}
.side h3{font-size:19px}
small{color:#6b6b6b;font-size:12.5px}
h2{font-size:15px;text-transform:uppercase;letter-spacing:.06em;border-top:3px solid #1a1a1a;padding-top:8px;margin:30px 0 16px}
.row{display:grid;grid-template-columns:repeat(4,1fr);gap:24px}
.row img{width:100%;height:150px;object-fit:cover}
.row h3{font-size:17px;margin:10px 0 4px}
.voices{display:grid;grid-template-columns:repeat(auto-fill,minmax(260px,1fr));gap:18px}
.voice{display:flex;gap:12px;align-items:center}
.voice img{border-radius:50%;flex:none}
.voice h3{font-size:16px}
.band{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:18px;margin-top:30px}
.band div{min-height:140px;color:#fff;padding:18px;background-color:#334;background-position:center;background-size:cover;font-weight:600}
.icons{display:flex;flex-wrap:wrap;gap:12px;margin-top:16px}
iframe{display:block;border:0;width:100%;height:100px;margin:16px 0}
footer{margin-top:44px;background:#1a1a1a;color:#bbb;padding:30px 0;font-size:13px}
`;

export const news: Kind = {
  proportions: {
    hosts: [
      { host: 'www', extraRttMs: 0, roles: ['document', 'style', 'json'] },
      {
        host: 'static',
        extraRttMs: 0,
        roles: [
          'import-style',
          'head-script',
          'defer-script',
          'chain-script',
          'module',
          'child-module',
          'icon',
          'background',
        ],
      },
      { host: 'img', extraRttMs: 3, roles: ['hero', 'card', 'late-image', 'portrait'] },
      { host: 'tags.adnet.test', extraRttMs: 18, roles: ['async-script', 'frame', 'frame-script'] },
      { host: 'cdn.fonts.test', extraRttMs: 8, roles: ['font'] },
      { host: 'creative.adnet.test', extraRttMs: 22, roles: ['frame-image'] },
      { host: 'media', extraRttMs: 3, roles: ['card', 'late-image'] },
      { host: 'tags.metrics.test', extraRttMs: 20, roles: ['async-script', 'chain-script'] },
      { host: 'consent.privacy.test', extraRttMs: 12, roles: ['head-script', 'async-script'] },
      { host: 'embed.video.test', extraRttMs: 25, roles: ['frame', 'frame-script', 'frame-image'] },
    ],
    shares: {
      style: 3,
      'import-style': 1,
      font: 4,
      background: 3,
      'head-script': 3,
      'defer-script': 5,
      'async-script': 8,
      'chain-script': 10,
      json: 3,
      hero: 1,
      card: 44,
      icon: 6,
      portrait: 8,
      'late-image': 8,
      frame: 5,
      'frame-script': 6,
      'frame-image': 7,
    },
    atLeast: { style: 1, hero: 1, card: 4, 'async-script': 1 },
    weights: {
      document: 60,
      style: 22,
      'import-style': 8,
      background: 24,
      'head-script': 16,
      'defer-script': 34,
      'async-script': 28,
      'chain-script': 20,
      json: 5,
      hero: 110,
      card: 16,
      icon: 2,
      portrait: 5,
      'late-image': 14,
      frame: 5,
      'frame-script': 18,
      'frame-image': 20,
      module: 14,
      'child-module': 8,
    },
    chain: 'chain-script',
    thinkMs: { document: 40, json: 25, frame: 45, 'async-script': 4 },
  },
  pictures: {
    hero: { width: 780, height: 400, artist: sceneArtist },
    background: { width: 420, height: 180, artist: backdropArtist },
    card: { width: 300, height: 180, artist: sceneArtist },
    'late-image': { width: 300, height: 180, artist: sceneArtist },
    icon: { width: 28, height: 28, artist: iconArtist },
    portrait: { width: 64, height: 64, artist: portraitArtist },
    'frame-image': { width: 160, height: 110, artist: productArtist },
  },
  fonts: [
    { name: 'source-serif-4-400', weight: 400 },
    { name: 'source-serif-4-700', weight: 700 },
    { name: 'inter-400', weight: 400 },
    { name: 'inter-600', weight: 600 },
    { name: 'source-serif-4-600', weight: 600 },
  ],
  steps: 2_000_000,
  rules,
  document(plan: PagePlan, random: SeededRandom): string {
    const byline = () => `<small>${place(random)} · ${random.int(2, 58)} min ago</small>`;
    const story = (card: Parameters<typeof img>[1]) =>
      `<article>${img(news, card, '')}<h3>${headline(random)}</h3>${byline()}</article>`;
    const cards = plan.by('card');
    const side = cards.slice(0, 2);
    const rest = cards.slice(2);
    const perSection = Math.max(4, Math.ceil(rest.length / SECTIONS.length / 4) * 4);
    const sections = SECTIONS.map((title, index) => ({
      title,
      stories: rest.slice(index * perSection, (index + 1) * perSection),
    })).filter(({ stories }) => stories.length > 0);
    const slots = sections.length + 1;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The Morning Ferry</title>
${headTags(plan)}
</head>
<body>
<div class="wrap">
${frameSlot(plan, 0, slots, 'Advertisement')}
<div class="mast">The Morning Ferry</div>
<nav>${SECTIONS.map((title) => `<a>${title}</a>`).join('')}</nav>
<div class="tick"><b>Just in</b><span data-live="0">${sentence(random)}</span><span data-live="1">${sentence(random)}</span></div>
<section class="front">
<div class="lead">${plan
      .by('hero')
      .map((hero) => img(news, hero, ''))
      .join('')}<h1>${headline(random)}</h1><p>${paragraph(random, 3)}</p>${byline()}</div>
<div class="side">${side.map((card) => `<article>${img(news, card, '')}<h3>${headline(random)}</h3>${byline()}</article>`).join('')}${Array.from({ length: 2 }, () => `<article><h3>${headline(random)}</h3>${byline()}</article>`).join('')}</div>
</section>
${sections.map(({ title, stories }, index) => `<h2>${title}</h2>\n<section class="row">${stories.map(story).join('\n')}</section>${frameSlot(plan, index + 1, slots, 'Advertisement')}`).join('\n')}
<h2>Opinion</h2>
<section class="voices">${plan
      .by('portrait')
      .map(
        (portrait) =>
          `<div class="voice">${img(news, portrait, '')}<div><h3>${headline(random)}</h3><small>${personName(random)}</small></div></div>`,
      )
      .join('')}</section>
<section class="band">${plan
      .by('background')
      .map(({ index }) => `<div class="bg-${index}">${headline(random)}</div>`)
      .join('')}</section>
<h2>More stories</h2>
<section class="row" data-slot="late"></section>
</div>
<footer><div class="wrap">${paragraph(random, 5)}<div class="icons">${plan
      .by('icon')
      .map((icon) => img(news, icon, ''))
      .join('')}</div>${fontSamples(plan, 3, sentence(random))}</div></footer>
</body>
</html>
`;
  },
  frame: (resource, random) => adFrame(news, resource, `${place(random)} by night train`, 'Book now'),
  statements: () => '',
  caption: (random) => ({ title: headline(random), detail: `${place(random)} · ${random.int(1, 9)} h ago` }),
};
