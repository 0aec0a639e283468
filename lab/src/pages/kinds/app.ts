import type { SeededRandom } from '../../random.ts';
import { backdropArtist, iconArtist, portraitArtist } from '../artwork.ts';
import type { PagePlan } from '../plan.ts';
import { personName, sentence } from '../words.ts';
import { adFrame, fontSamples, frameSlot, headTags, img, type Kind } from './kind.ts';

const PANELS = [
  'Orders by hour',
  'Items packed',
  'Returns by reason',
  'Parcels on the road',
  'Stock cover, days',
  'Delivery time',
  'Support requests',
  'Revenue by day',
];
const WIDGETS = PANELS.length;
const MENU = ['Overview', 'Orders', 'Customers', 'Inventory', 'Deliveries', 'Returns', 'Reports', 'Settings'];

const rules = `
*{box-sizing:border-box}
body{margin:0;font:15px/1.5 F0,system-ui,sans-serif;color:#1d2433;background:#f3f5f9;display:grid;grid-template-columns:230px 1fr;min-height:100vh}
h1,h2,.brand{font-family:F1,F0,system-ui,sans-serif;margin:0}
.value{font-family:F2,F0,system-ui,sans-serif;font-size:28px}
img{display:block}
aside{background:#182338;color:#b9c4da;padding:24px 18px}
.brand{color:#fff;font-size:21px;margin-bottom:26px}
aside a{display:flex;gap:12px;align-items:center;padding:9px 10px;border-radius:8px}
aside a:first-of-type{background:#26365a;color:#fff}
aside img{border-radius:5px}
main{padding:26px 34px}
header{display:flex;align-items:center;gap:16px;margin-bottom:22px}
header h1{font-size:25px;margin-right:auto}
header img{border-radius:50%}
.kpis{display:grid;grid-template-columns:repeat(4,1fr);gap:18px}
.card{background:#fff;border-radius:12px;padding:18px 20px;box-shadow:0 1px 3px #1d243318}
.card small{color:#6c778d}
.panels{display:grid;grid-template-columns:repeat(2,1fr);gap:18px;margin-top:18px}
.panel h2{font-size:16px;margin-bottom:12px}
.panel svg{display:block;width:100%;height:170px}
.panel .empty{height:170px;border-radius:8px;background:linear-gradient(90deg,#eef1f6,#f7f9fc)}
.team{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:12px}
.team figure,.item{margin:0;display:flex;gap:12px;align-items:center}
.item img{border-radius:50%}
.item h3{font-size:14px;margin:0}
.strip{height:64px;border-radius:10px;background-color:#ccd;background-position:center;background-size:cover;margin-top:18px}
iframe{border:0;width:100%;height:90px;border-radius:12px;margin-top:18px}
`;

/** Code that draws bars or a line into the widget with this number, if the page has it. */
function chart(widget: number, random: SeededRandom): string {
  const values = Array.from({ length: 24 }, () => random.int(15, 100));
  const line = random.fraction() < 0.5;
  const colour = random.pick(['#3b6fe0', '#1f9d7a', '#d9822b', '#8a5cd1']);
  return `var box=document.querySelector('[data-widget="${widget}"]');
if(box){var v=${JSON.stringify(values)},ns="http://www.w3.org/2000/svg",s=document.createElementNS(ns,"svg");s.setAttribute("viewBox","0 0 480 110");s.setAttribute("preserveAspectRatio","none");
${
  line
    ? `var p=document.createElementNS(ns,"polyline");p.setAttribute("points",v.map(function(y,i){return i*20.8+","+(108-y)}).join(" "));p.setAttribute("fill","none");p.setAttribute("stroke","${colour}");p.setAttribute("stroke-width","2.5");s.appendChild(p);`
    : `v.forEach(function(y,i){var r=document.createElementNS(ns,"rect");r.setAttribute("x",i*20);r.setAttribute("y",110-y);r.setAttribute("width",13);r.setAttribute("height",y);r.setAttribute("fill","${colour}");s.appendChild(r)});`
}
box.textContent="";box.className="";box.appendChild(s)}`;
}

export const app: Kind = {
  proportions: {
    hosts: [
      { host: 'www', extraRttMs: 0, roles: ['document', 'style', 'module'] },
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
      { host: 'api', extraRttMs: 2, roles: ['json'] },
      { host: 'cdn.fonts.test', extraRttMs: 8, roles: ['font'] },
      { host: 'users.avatars.test', extraRttMs: 14, roles: ['late-image', 'portrait', 'card'] },
      { host: 'sdk.metrics.test', extraRttMs: 20, roles: ['async-script'] },
    ],
    shares: {
      style: 4,
      'import-style': 1,
      font: 3,
      background: 1,
      'head-script': 1,
      'defer-script': 3,
      'async-script': 2,
      'chain-script': 12,
      module: 2,
      'child-module': 16,
      json: 9,
      icon: 6,
      portrait: 1,
      'late-image': 9,
    },
    atLeast: { style: 1, 'defer-script': 1, module: 1, icon: 1 },
    weights: {
      document: 9,
      style: 22,
      'import-style': 8,
      background: 14,
      'head-script': 8,
      'defer-script': 60,
      'async-script': 34,
      'chain-script': 34,
      module: 40,
      'child-module': 18,
      json: 9,
      hero: 60,
      card: 10,
      icon: 2,
      portrait: 5,
      'late-image': 7,
      frame: 4,
      'frame-script': 14,
      'frame-image': 10,
    },
    chain: 'chain-script',
    thinkMs: { document: 15, json: 55 },
  },
  pictures: {
    hero: { width: 900, height: 120, artist: backdropArtist },
    background: { width: 900, height: 80, artist: backdropArtist },
    card: { width: 44, height: 44, artist: iconArtist },
    'late-image': { width: 44, height: 44, artist: portraitArtist },
    icon: { width: 24, height: 24, artist: iconArtist },
    portrait: { width: 40, height: 40, artist: portraitArtist },
    'frame-image': { width: 100, height: 70, artist: backdropArtist },
  },
  fonts: [
    { name: 'inter-400', weight: 400 },
    { name: 'inter-700', weight: 700 },
    { name: 'inter-600', weight: 600 },
    { name: 'source-serif-4-600', weight: 600 },
    { name: 'source-serif-4-400', weight: 400 },
  ],
  steps: 3_000_000,
  rules,
  document(plan: PagePlan, random: SeededRandom): string {
    const kpi = (title: string, value: string) =>
      `<div class="card"><small>${title}</small><div class="value">${value}</div></div>`;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Quayside: overview</title>
${headTags(plan)}
</head>
<body>
<aside><div class="brand">Quayside</div>${Array.from(
      { length: Math.max(MENU.length, plan.by('icon').length) },
      (_, index) => {
        const icon = plan.by('icon')[index];
        return `<a>${icon ? img(app, icon, '') : ''}${MENU[index % MENU.length]}</a>`;
      },
    ).join('')}</aside>
<main>
<header><h1>Good morning</h1><span data-live="0"></span>${plan
      .by('portrait')
      .map((portrait) => img(app, portrait, ''))
      .join('')}</header>
${plan
  .by('hero')
  .map((hero) => img(app, hero, ''))
  .join('')}
<section class="kpis">${kpi('Orders today', String(random.int(120, 900)))}${kpi('Revenue', `$${random.int(4, 48)},${random.int(100, 999)}`)}${kpi('Open returns', String(random.int(3, 40)))}${kpi('On-time rate', `9${random.int(1, 8)}.${random.int(0, 9)}%`)}</section>
<section class="panels">${Array.from({ length: WIDGETS }, (_, index) => `<div class="card panel"><h2>${PANELS[index]}</h2><div class="empty" data-widget="${index}"></div><small data-live="${index + 1}"></small></div>`).join('')}</section>
${plan
  .by('background')
  .map(({ index }) => `<div class="strip bg-${index}"></div>`)
  .join('')}
<section class="card" style="margin-top:18px"><h2 style="font-size:16px">On shift</h2><div class="team" data-slot="late">${plan
      .by('card')
      .map((card) => `<div class="item">${img(app, card, '')}</div>`)
      .join('')}</div></section>
${frameSlot(plan, 0, 1, 'Notice')}
${fontSamples(plan, 3, sentence(random))}
</main>
</body>
</html>
`;
  },
  frame: (resource, random) => adFrame(app, resource, sentence(random), 'Open'),
  statements: (resource, random) =>
    resource.role === 'chain-script' ? chart(resource.index % WIDGETS, random) : '',
  caption: (random) => ({
    title: personName(random),
    detail: random.pick(['Packing', 'Dispatch', 'Support', 'Returns']),
  }),
};
