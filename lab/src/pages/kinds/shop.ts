import type { SeededRandom } from '../../random.ts';
import { backdropArtist, iconArtist, portraitArtist, productArtist } from '../artwork.ts';
import type { PagePlan } from '../plan.ts';
import { paragraph, personName, price, productName, sentence } from '../words.ts';
import { adFrame, fontSamples, frameSlot, headTags, img, type Kind } from './kind.ts';

const CATEGORIES = [
  'Living',
  'Kitchen',
  'Lighting',
  'Garden',
  'Office',
  'Bath',
  'Kids',
  'Textiles',
  'Storage',
  'Outdoor',
  'Gifts',
  'Sale',
];

const rules = `
*{box-sizing:border-box}
body{margin:0;font:16px/1.5 F0,system-ui,sans-serif;color:#22252b;background:#fff}
h1,h2,h3,.brand{font-family:F1,F0,system-ui,sans-serif;line-height:1.15;margin:0}
.price,.button,.pill{font-family:F2,F0,system-ui,sans-serif;font-weight:600}
img{display:block;max-width:100%;height:auto}
.wrap{max-width:1200px;margin:0 auto;padding:0 24px}
.notice{background:#1f3d36;color:#e8f2ec;text-align:center;font-size:14px;padding:8px}
.top{display:flex;align-items:center;gap:28px;padding:18px 24px}
.brand{font-size:26px;letter-spacing:-.02em;color:#1f3d36}
.search{flex:1;border:1px solid #d9dcd6;border-radius:22px;padding:10px 18px;color:#8a8f88;background:#f7f8f5}
.top a{color:#22252b}
.cats{display:flex;gap:10px;overflow:hidden;padding:6px 0 22px}
.pill{display:flex;align-items:center;gap:10px;border:1px solid #e3e6e0;border-radius:24px;padding:5px 16px 5px 6px;font-size:14px;white-space:nowrap}
.pill img{border-radius:50%}
.hero{position:relative;border-radius:18px;overflow:hidden}
.hero img{width:100%;height:380px;object-fit:cover}
.hero div{position:absolute;left:48px;bottom:44px;max-width:460px;color:#fff}
.hero h1{font-size:46px;letter-spacing:-.02em;margin-bottom:12px}
.button{display:inline-block;background:#f0b94d;color:#22252b;border-radius:24px;padding:11px 24px;margin-top:14px}
h2{font-size:26px;margin:44px 0 18px}
.grid{display:grid;grid-template-columns:repeat(4,1fr);gap:26px 22px}
.item img{width:100%;border-radius:14px}
.item h3{font-size:16px;margin:12px 0 2px}
.item small{color:#6d7269;display:block}
.price{color:#1f3d36}
.promos{display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:22px;margin-top:44px}
.promo{border-radius:14px;min-height:170px;padding:26px;color:#fff;background-color:#35506b;background-position:center;background-size:cover}
.promo h3{font-size:22px;margin-bottom:6px}
.voices{display:grid;grid-template-columns:repeat(auto-fit,minmax(240px,1fr));gap:22px}
.voice{display:flex;gap:14px;background:#f7f8f5;border-radius:14px;padding:18px;font-size:15px}
.voice img{border-radius:50%;flex:none;align-self:flex-start}
iframe{display:block;border:0;width:100%;height:110px;border-radius:14px;margin-top:30px}
footer{margin-top:60px;background:#f2f3ef;padding:36px 0 44px;color:#5b6058;font-size:14px}
`;

const product = (random: SeededRandom, index: number): string =>
  `<h3>${productName(random, index)}</h3><small>${'★'.repeat(random.int(3, 5))} ${random.int(8, 480)} reviews</small><span class="price">${price(random)}</span>`;

export const shop: Kind = {
  proportions: {
    hosts: [
      { host: 'www', extraRttMs: 0, roles: ['document', 'style', 'head-script'] },
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
      { host: 'img', extraRttMs: 4, roles: ['hero', 'card', 'late-image'] },
      { host: 'cdn.fonts.test', extraRttMs: 8, roles: ['font'] },
      { host: 'api', extraRttMs: 2, roles: ['json'] },
      {
        host: 'widget.reviews.test',
        extraRttMs: 15,
        roles: ['frame', 'frame-script', 'frame-image', 'portrait'],
      },
      { host: 'tags.metrics.test', extraRttMs: 20, roles: ['async-script'] },
    ],
    shares: {
      style: 4,
      'import-style': 1,
      font: 3,
      background: 3,
      'head-script': 2,
      'defer-script': 4,
      'async-script': 3,
      'chain-script': 4,
      module: 1,
      'child-module': 2,
      json: 4,
      hero: 1,
      card: 28,
      icon: 10,
      portrait: 3,
      'late-image': 8,
      frame: 1,
      'frame-script': 1,
      'frame-image': 1,
    },
    atLeast: { style: 1, hero: 1, card: 4 },
    weights: {
      document: 36,
      style: 16,
      'import-style': 6,
      background: 30,
      'head-script': 14,
      'defer-script': 32,
      'async-script': 22,
      'chain-script': 24,
      module: 18,
      'child-module': 9,
      json: 5,
      hero: 130,
      card: 17,
      icon: 2.5,
      portrait: 6,
      'late-image': 15,
      frame: 3,
      'frame-script': 14,
      'frame-image': 12,
    },
    chain: 'chain-script',
    thinkMs: { document: 60, json: 35, frame: 30 },
  },
  pictures: {
    hero: { width: 1200, height: 400, artist: backdropArtist },
    background: { width: 560, height: 240, artist: backdropArtist },
    card: { width: 320, height: 320, artist: productArtist },
    'late-image': { width: 320, height: 320, artist: productArtist },
    icon: { width: 36, height: 36, artist: iconArtist },
    portrait: { width: 56, height: 56, artist: portraitArtist },
    'frame-image': { width: 120, height: 90, artist: productArtist },
  },
  fonts: [
    { name: 'inter-400', weight: 400 },
    { name: 'source-serif-4-600', weight: 600 },
    { name: 'inter-600', weight: 600 },
    { name: 'inter-700', weight: 700 },
    { name: 'source-serif-4-400', weight: 400 },
  ],
  steps: 1_500_000,
  rules,
  document(plan: PagePlan, random: SeededRandom): string {
    const cards = plan
      .by('card')
      .map(
        (card) =>
          `<article class="item">${img(shop, card, 'Product')}${product(random, card.index)}</article>`,
      );
    const pills = plan
      .by('icon')
      .map(
        (icon, index) => `<a class="pill">${img(shop, icon, '')}${CATEGORIES[index % CATEGORIES.length]}</a>`,
      );
    const promos = plan
      .by('background')
      .map(
        ({ index }) =>
          `<div class="promo bg-${index}"><h3>${productName(random)}</h3>${sentence(random)}</div>`,
      );
    const voices = plan
      .by('portrait')
      .map(
        (portrait) =>
          `<div class="voice">${img(shop, portrait, '')}<div><b>${personName(random)}</b><br>${sentence(random)}</div></div>`,
      );
    const split = Math.min(cards.length, 8);
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Fern &amp; Field: things for the house</title>
${headTags(plan)}
</head>
<body>
<div class="notice">Free delivery this week <span data-live="0"></span></div>
<header class="wrap top"><span class="brand">Fern &amp; Field</span><span class="search">Search for vases, lamps, chairs</span><a>Account</a><a>Wishlist</a><a>Basket</a></header>
<div class="wrap">
<nav class="cats">${pills.slice(0, 8).join('')}</nav>
<section class="hero">${plan
      .by('hero')
      .map((hero) => img(shop, hero, ''))
      .join(
        '',
      )}<div><h1>Made slowly, kept for long</h1>${sentence(random)}<br><a class="button">See the collection</a></div></section>
<h2>New this week</h2>
<section class="grid">${cards.slice(0, split).join('\n')}</section>
<section class="promos">${promos.join('')}</section>
<h2>Most loved</h2>
<section class="grid">${cards.slice(split).join('\n')}</section>
<h2>You may also like</h2>
<section class="grid" data-slot="late"></section>
<h2>What people say</h2>
<section class="voices">${voices.join('')}</section>
${frameSlot(plan, 0, 1, 'Reviews')}
</div>
<footer><div class="wrap"><nav class="cats">${pills.slice(8).join('')}</nav>${paragraph(random, 6)} <span data-live="1"></span>${fontSamples(plan, 3, sentence(random))}</div></footer>
</body>
</html>
`;
  },
  frame: (resource, random) =>
    adFrame(
      shop,
      resource,
      `${random.int(2, 9)},${random.int(100, 999)} reviews of our ${productName(random).toLowerCase()}`,
      'Read them',
    ),
  statements: () => '',
  caption: (random, index) => ({ title: productName(random, index), detail: price(random) }),
};
