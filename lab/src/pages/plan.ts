/** What a generated page requests: how many resources of each role, their origins, finders and sizes. */
import { SeededRandom } from '../random.ts';

/** Role of a request on the page; it determines what finds the request and whether it blocks rendering. */
const ROLES = [
  'document',
  /** `<link rel="stylesheet">` in the head. */
  'style',
  /** `@import` in a stylesheet. */
  'import-style',
  'font',
  /** `background-image` of an element, in a stylesheet. */
  'background',
  /** Parser-blocking script in the head. */
  'head-script',
  'defer-script',
  'async-script',
  /** Inserted by another script. */
  'chain-script',
  'module',
  /** Imported by another module. */
  'child-module',
  /** Read with fetch() by a script; fills in text. Does not delay the load event. */
  'json',
  'hero',
  'card',
  'icon',
  'portrait',
  /** Inserted by a script. */
  'late-image',
  'frame',
  'frame-script',
  'frame-image',
] as const;

export type Role = (typeof ROLES)[number];

const IMAGE_ROLES: ReadonlySet<Role> = new Set<Role>([
  'hero',
  'card',
  'icon',
  'portrait',
  'late-image',
  'background',
  'frame-image',
]);

export const isImage = (role: Role): boolean => IMAGE_ROLES.has(role);

/** Types of resources as the HTTP Archive counts them; `data` is everything else. */
export const RESOURCE_TYPES = ['html', 'css', 'js', 'font', 'image', 'data'] as const;
export type ArchiveResourceType = (typeof RESOURCE_TYPES)[number];
export type ByType = Record<ArchiveResourceType, number>;

export interface TypeMeasures {
  requests: ByType;
  /** Total bytes of all bodies of a type. */
  bytes: ByType;
}

export function typeOf(role: Role): ArchiveResourceType {
  if (isImage(role)) return 'image';
  switch (role) {
    case 'document':
    case 'frame':
      return 'html';
    case 'style':
    case 'import-style':
      return 'css';
    case 'font':
      return 'font';
    case 'json':
      return 'data';
    default:
      return 'js';
  }
}

interface PlannedOrigin {
  origin: string;
  extraRttMs: number;
}

export interface PlannedResource {
  /** Position in `Plan.resources`; parents come before children. */
  id: number;
  role: Role;
  /** Position among the resources of its role. */
  index: number;
  /** The resource that finds it; null for the document. */
  parent: PlannedResource | null;
  children: PlannedResource[];
  /** Steps of discovery: the document has 1, what it names 2, and so on. */
  depth: number;
  origin: string;
  path: string;
  url: string;
  /** Target size; text with required content is sometimes longer. */
  bytes: number;
  thinkMs: number;
}

export interface PagePlan {
  name: string;
  origins: PlannedOrigin[];
  resources: PlannedResource[];
  by(role: Role): PlannedResource[];
}

/** The measures of a page. */
export interface PageSpec {
  seed: number;
  /** Lower-case letters, digits, hyphens; the page lives at `https://www.NAME.test/`. */
  name: string;
  /** Requests of a cold load, the document included. */
  requests: number;
  origins: number;
  /** Bytes of all bodies together. */
  bytes: number;
  /** Longest chain of discovery, the document included; at least 2. */
  depth: number;
  /** Shares of the roles among the requests, instead of the kind's own. */
  mix?: Partial<Record<Exclude<Role, 'document'>, number>>;
  /**
   * Requests and bytes of each type, as close as the page's structure allows; `requests` and `bytes` are then their sums. A
   * type's requests are divided among its roles by the kind's shares.
   */
  types?: TypeMeasures;
}

interface HostPlan {
  /** Full host, or one label of the page's own domain (`img` for `img.NAME.test`). */
  host: string;
  extraRttMs: number;
  roles: Role[];
}

/** How a kind of page divides its requests and bytes. */
export interface Proportions {
  /** In order of importance: a page with k origins has the first k; the first serves the document. */
  hosts: HostPlan[];
  shares: Partial<Record<Role, number>>;
  /** Minimum number of each role. */
  atLeast: Partial<Record<Role, number>>;
  /**
   * Median size of each role, kilobytes. Images get the remaining bytes of the page; on a page with few bytes everything
   * shrinks.
   */
  weights: Partial<Record<Role, number>>;
  /** The role that forms the longest chain. */
  chain: 'chain-script' | 'child-module';
  /** Server time of computed answers, milliseconds. */
  thinkMs: Partial<Record<Role, number>>;
}

const EXTENSION: Record<Role, string> = {
  document: '',
  style: 'css',
  'import-style': 'css',
  font: 'woff2',
  background: 'png',
  'head-script': 'js',
  'defer-script': 'js',
  'async-script': 'js',
  'chain-script': 'js',
  module: 'mjs',
  'child-module': 'mjs',
  json: 'json',
  hero: 'png',
  card: 'png',
  icon: 'png',
  portrait: 'png',
  'late-image': 'png',
  frame: 'html',
  'frame-script': 'js',
  'frame-image': 'png',
};

const FOLDER: Record<string, string> = {
  css: 'styles',
  woff2: 'fonts',
  png: 'images',
  js: 'scripts',
  mjs: 'modules',
  json: 'data',
  html: 'frames',
};

/** Spread of the sizes (sigma of a log-normal); documents vary less, as their markup is fixed. */
const SIZE_SPREAD = 0.45;
const DOCUMENT_SPREAD = 0.1;

/** Roles that may find a resource of this role, best first. */
function finders(role: Role, depth: number): Role[] {
  switch (role) {
    case 'import-style':
    case 'font':
    case 'background':
      return ['style'];
    case 'chain-script':
      return ['chain-script', 'defer-script', 'module'];
    case 'child-module':
      return ['child-module', 'module'];
    case 'json':
    case 'late-image':
      return ['chain-script', 'child-module', 'defer-script', 'module'];
    case 'frame':
      return depth >= 4 ? ['async-script'] : [];
    case 'frame-script':
    case 'frame-image':
      return ['frame'];
    default:
      return [];
  }
}

/** Largest-remainder apportionment of `total` to the shares. */
function apportion(total: number, shares: Map<Role, number>): Map<Role, number> {
  const sum = [...shares.values()].reduce((a, b) => a + b, 0);
  const exact = [...shares].map(([role, share]) => ({ role, quota: (share / sum) * total }));
  const counts = new Map(exact.map(({ role, quota }) => [role, Math.floor(quota)]));
  let left = total - [...counts.values()].reduce((a, b) => a + b, 0);
  for (const { role } of exact.toSorted((a, b) => (b.quota % 1) - (a.quota % 1))) {
    if (left-- <= 0) break;
    counts.set(role, (counts.get(role) as number) + 1);
  }
  return counts;
}

function whole(value: number, name: string, low: number, high: number): void {
  if (!Number.isInteger(value) || value < low || value > high) {
    throw new RangeError(`${name} ${value}: expected a whole number from ${low} to ${high}`);
  }
}

function checkSpec(spec: PageSpec): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$/.test(spec.name)) {
    throw new RangeError(
      `name ${JSON.stringify(spec.name)}: expected lower-case letters, digits and hyphens`,
    );
  }
  whole(spec.seed, 'seed', 0, 2 ** 31 - 1);
  whole(spec.requests, 'requests', 2, 2000);
  whole(spec.origins, 'origins', 1, 200);
  whole(spec.bytes, 'bytes', 1, 200_000_000);
  whole(spec.depth, 'depth', 2, 20);
  for (const [role, share] of Object.entries(spec.mix ?? {})) {
    if (!ROLES.includes(role as Role) || role === 'document')
      throw new RangeError(`mix: no role ${JSON.stringify(role)}`);
    if (!(share >= 0 && share < Infinity))
      throw new RangeError(`mix.${role} ${share}: expected a number from 0`);
  }
}

/** The role that represents a type in kinds without it. */
const COMMONEST: Record<ArchiveResourceType, Role> = {
  html: 'frame',
  css: 'style',
  js: 'defer-script',
  font: 'font',
  image: 'card',
  data: 'json',
};

/** Shares that give each type its number of requests. */
function sharesByType(shares: Proportions['shares'], { requests }: TypeMeasures): Proportions['shares'] {
  const divided: Proportions['shares'] = {};
  for (const type of RESOURCE_TYPES) {
    // The document is not shared out.
    const wanted = requests[type] - (type === 'html' ? 1 : 0);
    const own = (Object.entries(shares) as [Role, number][]).filter(([role]) => typeOf(role) === type);
    const roles = own.length > 0 ? own : [[COMMONEST[type], 1] as const];
    const sum = roles.reduce((total, [, share]) => total + share, 0);
    for (const [role, share] of roles) divided[role] = (wanted * share) / sum;
  }
  return divided;
}

function countRoles(spec: PageSpec, proportions: Proportions): Map<Role, number> {
  const shares = new Map<Role, number>();
  const own = spec.types === undefined ? proportions.shares : sharesByType(proportions.shares, spec.types);
  for (const [role, share] of Object.entries({ ...own, ...spec.mix }) as [Role, number][]) {
    const deep = finders(role, spec.depth).length > 0;
    if (share > 0 && !(deep && spec.depth < 3)) shares.set(role, share);
  }
  if (shares.has('frame') === false || spec.depth < 3) {
    shares.delete('frame-script');
    shares.delete('frame-image');
  }
  const least = new Map<Role, number>();
  const need = (role: Role, count: number) => least.set(role, Math.max(least.get(role) ?? 0, count));
  const atLeast = spec.types === undefined ? proportions.atLeast : {};
  for (const [role, count] of Object.entries(atLeast) as [Role, number][]) {
    if (!(finders(role, spec.depth).length > 0 && spec.depth < 3)) need(role, count);
  }
  if (spec.depth > 2) {
    need(proportions.chain === 'child-module' ? 'module' : 'defer-script', 1);
    need(proportions.chain, spec.depth - 2);
  }
  // Every resource needs a finder.
  for (const role of [...shares.keys(), ...least.keys()]) {
    const candidates = finders(role, spec.depth);
    const found = candidates.some((finder) => (least.get(finder) ?? 0) > 0);
    if (candidates.length > 0 && !found) need(candidates.at(-1) as Role, 1);
  }
  const reserved = [...least.values()].reduce((a, b) => a + b, 0);
  const free = spec.requests - 1 - reserved;
  if (free < 0) {
    throw new RangeError(
      `requests ${spec.requests}: a page of depth ${spec.depth} of this kind needs at least ${reserved + 1}`,
    );
  }
  if (shares.size === 0) throw new RangeError('mix: no role has a share');
  // Apportion all, then raise roles below their minimum at the cost of the largest.
  const counts = apportion(spec.requests - 1, shares);
  for (const [role, count] of least) {
    while ((counts.get(role) ?? 0) < count) {
      counts.set(role, (counts.get(role) ?? 0) + 1);
      const [donor] = [...counts]
        .filter(([other, has]) => other !== role && has > (least.get(other) ?? 0))
        .sort((a, b) => b[1] - a[1]);
      if (donor === undefined)
        throw new RangeError(`requests ${spec.requests}: too few for this kind of page`);
      counts.set(donor[0], donor[1] - 1);
    }
  }
  // Without a frame, its images become cards.
  if ((counts.get('frame') ?? 0) === 0) {
    for (const role of ['frame-script', 'frame-image'] as const) {
      const count = counts.get(role) ?? 0;
      counts.delete(role);
      if (count > 0) counts.set('icon', (counts.get('icon') ?? 0) + count);
    }
  }
  return counts;
}

function planOrigins(
  spec: PageSpec,
  hosts: HostPlan[],
  random: SeededRandom,
): (PlannedOrigin & { roles: Role[] })[] {
  return Array.from({ length: spec.origins }, (_, index) => {
    const host: HostPlan = hosts[index] ?? {
      host: `img${index + 1}`,
      extraRttMs: random.int(0, 25),
      roles: ['card', 'late-image', 'icon', 'async-script'],
    };
    const name = host.host.includes('.') ? host.host : `${host.host}.${spec.name}.test`;
    return { origin: `https://${name}`, extraRttMs: host.extraRttMs, roles: host.roles };
  });
}

/**
 * The plan of a page: `spec.requests` resources on `spec.origins` origins, each found by the document
 * or by an earlier resource, the longest chain `spec.depth` long.
 *
 * @throws {RangeError} naming the value that is out of range or cannot be met.
 */
export function planPage(spec: PageSpec, proportions: Proportions): PagePlan {
  checkSpec(spec);
  if (spec.origins > spec.requests) {
    throw new RangeError(`origins ${spec.origins}: more than the page's ${spec.requests} requests`);
  }
  const random = new SeededRandom(spec.seed);
  const counts = countRoles(spec, proportions);
  const origins = planOrigins(spec, proportions.hosts, random);
  const home = origins[0] as PlannedOrigin;

  const resources: PlannedResource[] = [];
  const byRole = new Map<Role, PlannedResource[]>();
  const add = (role: Role, parent: PlannedResource | null): PlannedResource => {
    const peers = byRole.get(role) ?? [];
    byRole.set(role, peers);
    const resource: PlannedResource = {
      id: resources.length,
      role,
      index: peers.length,
      parent,
      children: [],
      depth: parent === null ? 1 : parent.depth + 1,
      origin: home.origin,
      path: '/',
      url: `${home.origin}/`,
      bytes: Math.round(
        (proportions.weights[role] ?? 10) *
          1000 *
          random.logNormal(role === 'document' ? DOCUMENT_SPREAD : SIZE_SPREAD),
      ),
      thinkMs: proportions.thinkMs[role] ?? 0,
    };
    peers.push(resource);
    resources.push(resource);
    parent?.children.push(resource);
    return resource;
  };

  const page = add('document', null);
  // Roles in the order of ROLES, so that finders precede what they find, except within a role.
  for (const role of ROLES) {
    for (let index = 0; index < (counts.get(role) ?? 0); index++) {
      const candidates = finders(role, spec.depth);
      let parent = page;
      if (role === proportions.chain && index < spec.depth - 2) {
        parent = (
          index === 0
            ? byRole.get(role === 'child-module' ? 'module' : 'defer-script')?.[0]
            : byRole.get(role)?.[index - 1]
        ) as PlannedResource;
      } else if (candidates.length > 0) {
        const able = candidates
          .flatMap((finder) => byRole.get(finder) ?? [])
          .filter((finder) => finder.depth < spec.depth);
        parent = random.pick(able);
      }
      add(role, parent);
    }
  }

  for (const resource of resources.slice(1)) {
    const able = origins.filter(({ roles }) => roles.includes(resource.role));
    resource.origin = (able.length > 0 ? random.pick(able) : home).origin;
  }
  for (const { origin, roles } of origins) {
    if (resources.some((resource) => resource.origin === origin)) continue;
    const used = (candidate: string) => resources.filter((resource) => resource.origin === candidate).length;
    const spare = resources.slice(1).filter((resource) => used(resource.origin) > 1);
    const fitting = spare.filter(({ role }) => roles.includes(role));
    const moved = (fitting.length > 0 ? fitting : spare).toSorted(
      (a, b) => used(b.origin) - used(a.origin),
    )[0];
    if (moved === undefined) throw new RangeError(`origins ${spec.origins}: more than the page can use`);
    moved.origin = origin;
  }
  for (const resource of resources.slice(1)) {
    const extension = EXTENSION[resource.role];
    const tag = random.int(0x1000, 0xffff).toString(16);
    resource.path = `/${FOLDER[extension]}/${resource.role}-${resource.index + 1}.${tag}.${extension}`;
    resource.url = resource.origin + resource.path;
  }
  return { name: spec.name, origins, resources, by: (role) => byRole.get(role) ?? [] };
}
