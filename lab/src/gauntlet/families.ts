/** Kinds of drawn pages. Each split has its own, so that none is tuned on. */
import type { Split } from './splits.ts';

/** Numbers from the first to the second, both included. */
export type Counts = readonly [low: number, high: number];

/** What the pages of a family consist of. */
export interface Family {
  name: string;
  /** Size of the document on the wire. */
  documentKb: Counts;
  styles: Counts;
  /** Scripts in the head that the parser waits for. */
  blockingScripts: Counts;
  /** Scripts of other parties, each on an origin of its own; they send beacons and request further scripts. */
  thirdParties: Counts;
  /** Origins that the head connects to ahead. */
  preconnects: Counts;
  images: Counts;
  /** Median size of an image. */
  imageKb: Counts;
  /** Fonts that a stylesheet asks for. */
  fonts: Counts;
  /** Background images of a stylesheet. */
  backgrounds: Counts;
  iframes: Counts;
  /** `new Image()` by each script of another party. */
  beacons: Counts;
  /** Scripts that other scripts request some time after they ran. */
  lateScripts: Counts;
  /** `fetch()` calls that the page's own script makes at once; half of the answers request an image. */
  fan: Counts;
  /** Time of a script on the main thread. */
  busyMs: Counts;
}

export const FAMILIES: Record<Split, readonly Family[]> = {
  train: [
    {
      name: 'catalogue',
      documentKb: [20, 90],
      styles: [1, 3],
      blockingScripts: [1, 3],
      thirdParties: [1, 3],
      preconnects: [0, 2],
      images: [16, 40],
      imageKb: [6, 30],
      fonts: [0, 2],
      backgrounds: [0, 3],
      iframes: [0, 1],
      beacons: [1, 3],
      lateScripts: [0, 2],
      fan: [0, 6],
      busyMs: [5, 60],
    },
    {
      name: 'dashboard',
      documentKb: [6, 25],
      styles: [1, 2],
      blockingScripts: [2, 4],
      thirdParties: [1, 2],
      preconnects: [0, 2],
      images: [2, 8],
      imageKb: [3, 15],
      fonts: [1, 3],
      backgrounds: [0, 2],
      iframes: [0, 0],
      beacons: [0, 2],
      lateScripts: [1, 3],
      fan: [22, 36],
      busyMs: [30, 180],
    },
    {
      name: 'magazine',
      documentKb: [130, 320],
      styles: [1, 2],
      blockingScripts: [0, 2],
      thirdParties: [3, 6],
      preconnects: [1, 4],
      images: [8, 22],
      imageKb: [8, 40],
      fonts: [1, 4],
      backgrounds: [0, 2],
      iframes: [0, 2],
      beacons: [1, 4],
      lateScripts: [1, 4],
      fan: [0, 4],
      busyMs: [10, 90],
    },
  ],
  validation: [
    {
      name: 'portal',
      documentKb: [60, 150],
      styles: [2, 4],
      blockingScripts: [1, 3],
      thirdParties: [2, 5],
      preconnects: [0, 3],
      images: [10, 28],
      imageKb: [5, 25],
      fonts: [1, 2],
      backgrounds: [1, 4],
      iframes: [1, 2],
      beacons: [2, 5],
      lateScripts: [1, 3],
      fan: [8, 20],
      busyMs: [10, 100],
    },
    {
      name: 'landing',
      documentKb: [10, 40],
      styles: [1, 2],
      blockingScripts: [0, 2],
      thirdParties: [1, 4],
      preconnects: [1, 3],
      images: [4, 12],
      imageKb: [20, 90],
      fonts: [2, 5],
      backgrounds: [0, 2],
      iframes: [0, 1],
      beacons: [1, 3],
      lateScripts: [1, 3],
      fan: [0, 3],
      busyMs: [5, 120],
    },
  ],
  test: [
    {
      name: 'storefront',
      documentKb: [40, 130],
      styles: [1, 4],
      blockingScripts: [1, 4],
      thirdParties: [2, 5],
      preconnects: [0, 3],
      images: [12, 34],
      imageKb: [5, 35],
      fonts: [1, 3],
      backgrounds: [0, 4],
      iframes: [0, 1],
      beacons: [1, 5],
      lateScripts: [1, 3],
      fan: [4, 14],
      busyMs: [8, 120],
    },
    {
      name: 'newsroom',
      documentKb: [110, 280],
      styles: [1, 3],
      blockingScripts: [1, 2],
      thirdParties: [3, 6],
      preconnects: [1, 4],
      images: [10, 26],
      imageKb: [6, 35],
      fonts: [2, 4],
      backgrounds: [0, 3],
      iframes: [1, 2],
      beacons: [1, 4],
      lateScripts: [2, 4],
      fan: [0, 6],
      busyMs: [10, 80],
    },
    {
      name: 'console',
      documentKb: [5, 30],
      styles: [1, 3],
      blockingScripts: [1, 4],
      thirdParties: [0, 2],
      preconnects: [0, 2],
      images: [2, 10],
      imageKb: [2, 20],
      fonts: [1, 3],
      backgrounds: [0, 2],
      iframes: [0, 1],
      beacons: [0, 2],
      lateScripts: [1, 4],
      fan: [20, 40],
      busyMs: [20, 160],
    },
  ],
};
