/** Pictures for generated pages: drawn from shapes, so that they compress like flat artwork. */
import type { SeededRandom } from '../random.ts';

export interface Picture {
  width: number;
  height: number;
  /** Rows of red, green, blue. */
  rgb: Uint8Array;
}

export type Artist = (width: number, height: number) => Picture;

type Colour = readonly [number, number, number];

/** Signed distance to a shape in units of the picture's height, negative inside. */
type Shape = (x: number, y: number) => number;

interface Layer {
  shape: Shape;
  colour: Colour;
}

/** `hue` in degrees, `saturation` and `lightness` 0 to 1 (CSS Color 4, hsl()). */
function hsl(hue: number, saturation: number, lightness: number): Colour {
  const channel = (n: number): number => {
    const k = (n + hue / 30) % 12;
    const a = saturation * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

const ellipse =
  (cx: number, cy: number, rx: number, ry: number): Shape =>
  (x, y) => {
    const k = Math.hypot((x - cx) / rx, (y - cy) / ry);
    return (k - 1) * Math.min(rx, ry);
  };

const box =
  (cx: number, cy: number, halfWidth: number, halfHeight: number, radius: number): Shape =>
  (x, y) => {
    const dx = Math.abs(x - cx) - halfWidth + radius;
    const dy = Math.abs(y - cy) - halfHeight + radius;
    return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius;
  };

const without =
  (shape: Shape, hole: Shape): Shape =>
  (x, y) =>
    Math.max(shape(x, y), -hole(x, y));

/** Everything below the line `height(x)`. */
const below =
  (height: (x: number) => number): Shape =>
  (x, y) =>
    height(x) - y;

function paint(width: number, height: number, top: Colour, bottom: Colour, layers: Layer[]): Picture {
  const rgb = new Uint8Array(width * height * 3);
  const aspect = width / height;
  for (let row = 0; row < height; row++) {
    const y = (row + 0.5) / height;
    for (let column = 0; column < width; column++) {
      const x = ((column + 0.5) / width) * aspect;
      const at = (row * width + column) * 3;
      for (let c = 0; c < 3; c++) {
        // Steps of 4 keep the gradient's rows few and the file small.
        rgb[at + c] = Math.round(((top[c] as number) * (1 - y) + (bottom[c] as number) * y) / 4) * 4;
      }
      for (const { shape, colour } of layers) {
        const cover = Math.min(1, Math.max(0, 0.5 - shape(x, y) * height));
        if (cover === 0) continue;
        for (let c = 0; c < 3; c++) {
          rgb[at + c] = Math.round((rgb[at + c] as number) * (1 - cover) + (colour[c] as number) * cover);
        }
      }
    }
  }
  return { width, height, rgb };
}

/** The goods that `productArtist` draws, in order. */
export const GOODS = ['Vase', 'Mug', 'Table Lamp', 'Armchair', 'Tote', 'Wall Clock'] as const;

/** Which of `GOODS` the picture of that number shows. */
export const goodAt = (index: number): number => (index * 5 + Math.floor(index / 4)) % GOODS.length;

/** A household object on a plain backdrop. */
export function productArtist(random: SeededRandom, index: number): Artist {
  const hue = random.int(0, 359);
  const kind = goodAt(index);
  const accent = (hue + random.pick([150, 180, 210, 30])) % 360;
  const size = 0.9 + 0.2 * random.fraction();
  const light = hsl(accent, 0.45, 0.62);
  const main = hsl(accent, 0.48, 0.48);
  const dark = hsl(accent, 0.5, 0.34);
  return (width, height) => {
    const cx = width / height / 2;
    const s = (value: number) => value * size;
    const shadow: Layer = {
      shape: ellipse(cx, 0.84, s(0.3), 0.035),
      colour: hsl(hue, 0.16, 0.74),
    };
    const objects: Layer[][] = [
      [
        { shape: box(cx, 0.58, s(0.19), s(0.25), 0.12), colour: main },
        { shape: box(cx, 0.3, s(0.07), s(0.1), 0.02), colour: main },
        { shape: box(cx, 0.22, s(0.1), s(0.025), 0.02), colour: dark },
        { shape: box(cx - s(0.1), 0.58, s(0.025), s(0.17), 0.02), colour: light },
      ],
      [
        {
          shape: without(
            ellipse(cx + s(0.22), 0.58, s(0.15), s(0.15)),
            ellipse(cx + s(0.22), 0.58, s(0.09), s(0.09)),
          ),
          colour: dark,
        },
        { shape: box(cx - s(0.03), 0.58, s(0.22), s(0.24), 0.06), colour: main },
        { shape: box(cx - s(0.03), 0.37, s(0.22), s(0.03), 0.02), colour: light },
      ],
      [
        { shape: box(cx, 0.62, s(0.02), s(0.2), 0.01), colour: dark },
        { shape: box(cx, 0.82, s(0.15), s(0.025), 0.02), colour: dark },
        {
          shape: (x, y) => Math.max(Math.abs(x - cx) - s(0.12) - (y - 0.18) * 0.42, 0.18 - y, y - 0.48),
          colour: main,
        },
        {
          shape: (x, y) => Math.max(Math.abs(x - cx + s(0.07)) - s(0.02), 0.18 - y, y - 0.48),
          colour: light,
        },
      ],
      [
        { shape: box(cx, 0.4, s(0.21), s(0.24), 0.08), colour: light },
        { shape: box(cx, 0.62, s(0.29), s(0.1), 0.05), colour: main },
        { shape: box(cx - s(0.28), 0.56, s(0.055), s(0.15), 0.05), colour: dark },
        { shape: box(cx + s(0.28), 0.56, s(0.055), s(0.15), 0.05), colour: dark },
        { shape: box(cx - s(0.22), 0.78, s(0.02), s(0.06), 0.01), colour: dark },
        { shape: box(cx + s(0.22), 0.78, s(0.02), s(0.06), 0.01), colour: dark },
      ],
      [
        {
          shape: without(ellipse(cx, 0.36, s(0.13), s(0.17)), ellipse(cx, 0.36, s(0.09), s(0.13))),
          colour: dark,
        },
        { shape: box(cx, 0.61, s(0.24), s(0.22), 0.05), colour: main },
        { shape: box(cx, 0.53, s(0.24), s(0.012), 0.01), colour: light },
      ],
      [
        { shape: ellipse(cx, 0.5, s(0.3), s(0.3)), colour: dark },
        { shape: ellipse(cx, 0.5, s(0.265), s(0.265)), colour: hsl(hue, 0.15, 0.96) },
        { shape: box(cx, 0.41, s(0.013), s(0.1), 0.01), colour: dark },
        { shape: box(cx + s(0.07), 0.5, s(0.08), s(0.013), 0.01), colour: main },
        { shape: ellipse(cx, 0.5, s(0.025), s(0.025)), colour: dark },
      ],
    ];
    return paint(width, height, hsl(hue, 0.24, 0.93), hsl(hue, 0.22, 0.86), [
      shadow,
      ...(objects[kind] as Layer[]),
    ]);
  };
}

/** Hills or a skyline under a sky. */
export function sceneArtist(random: SeededRandom): Artist {
  const hue = random.pick([205, 215, 25, 340, 265, 190]);
  const city = random.fraction() < 0.4;
  const sunX = 0.2 + 0.6 * random.fraction();
  const sunY = 0.2 + 0.2 * random.fraction();
  const phases = [0, 1, 2].map(() => random.fraction() * 6.28);
  const roofs = Array.from({ length: 64 }, () => 0.42 + 0.34 * random.fraction());
  const ground = random.pick([hue, 150, 200]);
  return (width, height) => {
    const aspect = width / height;
    const ridges = phases.map((phase, depth): Layer => {
      const base = 0.55 + 0.13 * depth;
      const shape = below(
        (x) => base - 0.07 * Math.sin(x * (2.2 + depth) + phase) - 0.03 * Math.sin(x * 7 + phase),
      );
      return { shape, colour: hsl(ground, 0.3 - 0.04 * depth, 0.56 - 0.13 * depth) };
    });
    const skyline = (offset: number, lift: number, colour: Colour): Layer => ({
      shape: (x, y) => (roofs[Math.floor(x * 14 + offset) % roofs.length] as number) + lift - y,
      colour,
    });
    return paint(width, height, hsl(hue, 0.5, 0.66), hsl((hue + 30) % 360, 0.55, 0.88), [
      { shape: ellipse(sunX * aspect, sunY, 0.1, 0.1), colour: hsl(45, 0.9, 0.88) },
      ...(city
        ? [
            skyline(0, 0, hsl(hue, 0.2, 0.55)),
            skyline(23, 0.14, hsl(hue, 0.24, 0.38)),
            { shape: below(() => 0.9), colour: hsl(hue, 0.25, 0.25) },
          ]
        : ridges),
    ]);
  };
}

/** Head and shoulders. */
export function portraitArtist(random: SeededRandom): Artist {
  const hue = random.int(0, 359);
  const skin = hsl(random.int(18, 32), 0.45, 0.35 + 0.4 * random.fraction());
  const hair = hsl(random.int(10, 45), 0.35, 0.12 + 0.4 * random.fraction());
  const shirt = hsl((hue + 180) % 360, 0.4, 0.42);
  return (width, height) => {
    const cx = width / height / 2;
    return paint(width, height, hsl(hue, 0.35, 0.82), hsl(hue, 0.35, 0.72), [
      { shape: ellipse(cx, 0.36, 0.225, 0.235), colour: hair },
      { shape: ellipse(cx, 1.02, 0.4, 0.34), colour: shirt },
      { shape: box(cx, 0.62, 0.07, 0.1, 0.04), colour: skin },
      { shape: ellipse(cx, 0.43, 0.17, 0.205), colour: skin },
    ]);
  };
}

/** A sign of simple shapes, for icons and logos. */
export function iconArtist(random: SeededRandom): Artist {
  const hue = random.int(0, 359);
  const kind = random.int(0, 3);
  return (width, height) => {
    const cx = width / height / 2;
    const main = hsl(hue, 0.5, 0.5);
    const dark = hsl(hue, 0.5, 0.32);
    const signs: Layer[][] = [
      [
        { shape: ellipse(cx - 0.12, 0.5, 0.24, 0.24), colour: main },
        { shape: ellipse(cx + 0.12, 0.5, 0.24, 0.24), colour: dark },
      ],
      [
        { shape: box(cx, 0.5, 0.28, 0.28, 0.09), colour: main },
        { shape: ellipse(cx, 0.5, 0.13, 0.13), colour: hsl(hue, 0.4, 0.94) },
      ],
      [
        { shape: box(cx, 0.36, 0.3, 0.07, 0.07), colour: dark },
        { shape: box(cx - 0.06, 0.62, 0.24, 0.07, 0.07), colour: main },
      ],
      [
        { shape: (x, y) => Math.max(Math.abs(x - cx) * 0.87 + (y - 0.78) * 0.5, -y + 0.2), colour: main },
        { shape: ellipse(cx, 0.6, 0.08, 0.08), colour: hsl(hue, 0.4, 0.94) },
      ],
    ];
    return paint(width, height, hsl(hue, 0.3, 0.95), hsl(hue, 0.3, 0.92), signs[kind] as Layer[]);
  };
}

/** A soft wash of two colours with a few large discs. */
export function backdropArtist(random: SeededRandom): Artist {
  const hue = random.int(180, 330);
  const discs = Array.from({ length: 4 }, () => ({
    x: random.fraction(),
    y: random.fraction(),
    r: 0.25 + 0.5 * random.fraction(),
    lightness: 0.3 + 0.12 * random.fraction(),
  }));
  return (width, height) =>
    paint(
      width,
      height,
      hsl(hue, 0.42, 0.3),
      hsl((hue + 40) % 360, 0.42, 0.42),
      discs.map(({ x, y, r, lightness }) => ({
        shape: ellipse((x * width) / height, y, r, r),
        colour: hsl((hue + 20) % 360, 0.42, lightness),
      })),
    );
}
