/** Text for generated pages. */

import type { SeededRandom } from '../random.ts';
import { GOODS, goodAt } from './artwork.ts';

const MATERIALS = [
  'Linen',
  'Oak',
  'Stoneware',
  'Wool',
  'Brass',
  'Walnut',
  'Cotton',
  'Glass',
  'Rattan',
  'Cork',
  'Steel',
  'Felt',
];
const STYLES = [
  'Everyday',
  'Nordic',
  'Harbour',
  'Garden',
  'Studio',
  'Weekend',
  'Terrace',
  'Attic',
  'Meadow',
  'Quarry',
];

const PLACES = [
  'Lisbon',
  'Oslo',
  'Nairobi',
  'Quito',
  'Hanoi',
  'Tallinn',
  'Porto',
  'Lagos',
  'Bergen',
  'Kyoto',
  'Graz',
  'Cork',
];
const ACTORS = [
  'Harbour council',
  'Ferry operators',
  'Public libraries',
  'Beekeepers',
  'Night-train passengers',
  'City gardeners',
  'Small bakeries',
  'Tide researchers',
  'Bridge engineers',
  'Street musicians',
  'Village schools',
  'Bicycle couriers',
];
const DEEDS = [
  'agree on longer opening hours',
  'test a quieter kind of engine',
  'share tools across districts',
  'plan for a dry summer',
  'publish a decade of measurements',
  'open their workshops to visitors',
  'bring back the evening market',
  'map every public fountain',
  'ask for simpler tickets',
  'repair what others throw away',
  'learn from the flood year',
];
const SUBJECTS = [
  'The proposal',
  'A first trial',
  'The new route',
  'The survey',
  'An open workshop',
  'The evening service',
  'A shared calendar',
  'The old pier',
];
const VERBS = [
  'has drawn',
  'could bring',
  'will need',
  'already shows',
  'depends on',
  'gives way to',
  'was built around',
  'makes room for',
];
const OBJECTS = [
  'more visitors than anyone expected',
  'a careful look at the figures',
  'patience from everyone involved',
  'shorter waits in the morning',
  'a handful of volunteers',
  'better maps and plainer signs',
  'the support of neighbouring towns',
  'a small but steady income',
];
const TAILS = [
  '',
  ', people close to the work say',
  ', at least until spring',
  ', according to the first results',
  ', and not only at weekends',
  ' in most districts',
];

const FIRST_NAMES = [
  'Amara',
  'Jonas',
  'Leila',
  'Mateo',
  'Ingrid',
  'Kofi',
  'Sanna',
  'Tomas',
  'Yuki',
  'Noor',
  'Elif',
  'Rafael',
];
const LAST_NAMES = [
  'Lindqvist',
  'Okafor',
  'Moreau',
  'Tanaka',
  'Silva',
  'Haddad',
  'Novak',
  'Byrne',
  'Costa',
  'Eriksen',
];

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A product name matching the picture with this number. */
export const productName = (random: SeededRandom, index: number = random.int(0, 99)): string =>
  `${random.pick(STYLES)} ${random.pick(MATERIALS)} ${GOODS[goodAt(index)]}`;

/** In the range of household goods, with cents. */
export const price = (random: SeededRandom): string =>
  `$${random.int(9, 240)}.${random.pick(['00', '50', '90', '95'])}`;

export const personName = (random: SeededRandom): string =>
  `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;

export const place = (random: SeededRandom): string => random.pick(PLACES);

export const headline = (random: SeededRandom): string =>
  random.fraction() < 0.5
    ? `${random.pick(ACTORS)} ${random.pick(DEEDS)}`
    : `${random.pick(PLACES)}: ${random.pick(ACTORS).toLowerCase()} ${random.pick(DEEDS)}`;

export const sentence = (random: SeededRandom): string =>
  `${random.pick(SUBJECTS)} ${random.pick(VERBS)} ${random.pick(OBJECTS)}${random.pick(TAILS)}.`;

export const paragraph = (random: SeededRandom, sentences: number): string =>
  Array.from({ length: sentences }, () => sentence(random)).join(' ');

/** Two words joined, for names in code. */
export const identifier = (random: SeededRandom): string =>
  random.pick([
    'read',
    'pick',
    'sort',
    'join',
    'count',
    'fold',
    'trim',
    'scan',
    'merge',
    'check',
    'format',
    'queue',
  ]) +
  capital(
    random.pick([
      'price',
      'card',
      'route',
      'slot',
      'event',
      'label',
      'chart',
      'filter',
      'cache',
      'locale',
      'theme',
      'rating',
    ]),
  );
