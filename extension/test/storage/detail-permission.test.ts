import { beforeEach, expect, test, vi } from 'vitest';
import {
  canAnnounceStartRate,
  endWaiting,
  isDetailOptional,
  readDetailAccess,
  removeDetail,
  requestDetail,
  requestStartRate,
} from '../../src/storage/detail-permission.ts';
import '../support/own-database.ts';

let given: Set<string>;
let isGranted: boolean;
let optional: string[];

beforeEach(() => {
  given = new Set();
  isGranted = true;
  optional = ['webRequest', 'declarativeNetRequestWithHostAccess'];
  type Names = { permissions: string[] };
  vi.stubGlobal('chrome', {
    runtime: { getManifest: () => ({ optional_permissions: optional }) },
    permissions: {
      contains: async ({ permissions }: Names) => permissions.every((name) => given.has(name)),
      request: async ({ permissions }: Names) => {
        if (isGranted) for (const name of permissions) given.add(name);
        return isGranted;
      },
      remove: async ({ permissions }: Names) => permissions.map((name) => given.delete(name)).includes(true),
    },
  });
});

test('what is given waits for the next start of the browser', async () => {
  expect(await readDetailAccess()).toBe('missing');
  expect(await requestDetail()).toBe('waiting');
  expect([...given]).toEqual(['webRequest']);
  expect(await readDetailAccess()).toBe('waiting');
  await endWaiting();
  expect(await readDetailAccess()).toBe('given');
  // The permission for a header adds nothing to wait for.
  expect(await requestStartRate()).toBe('given');
  expect(await canAnnounceStartRate()).toBe(true);
});

test('what is refused stays missing, and can be asked for again', async () => {
  isGranted = false;
  expect(await requestDetail()).toBe('missing');
  isGranted = true;
  expect(await requestStartRate()).toBe('waiting');
});

test('both are given back together, and waited for no longer', async () => {
  await requestStartRate();
  await removeDetail();
  expect([...given]).toEqual([]);
  expect(await readDetailAccess()).toBe('missing');
  given.add('webRequest');
  expect(await readDetailAccess()).toBe('given');
});

test('nothing is decided on where the permission is required', () => {
  expect(isDetailOptional()).toBe(true);
  optional = ['proxy'];
  expect(isDetailOptional()).toBe(false);
});
