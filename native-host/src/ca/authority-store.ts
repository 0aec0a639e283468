/**
 * The authority on disk: a folder that is complete or does not exist.
 *
 * `issuers.json` holds the issuers with their keys, `root.pem` the certificate that browsers trust, `trusted.json` (see
 * `trust-record.ts`) the stores that trust it. Without `issuers.json` there is no authority: its keys are deleted, and the
 * other files say which stores still hold the root.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { launcherCommand } from '../base/launcher.ts';
import { dataDirectory } from '../base/paths.ts';
import { replaceFile } from '../base/replace-file.ts';
import type { Authority, Issuer } from './authority.ts';
import {
  AuthorityError,
  checkPrivateFolder,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_MODE,
  readPrivateFile,
} from './private-file.ts';

const VERSION = 1;
const ISSUERS = 'issuers.json';
const ROOT = 'root.pem';

const issuersSchema = z.object({
  version: z.literal(VERSION),
  issuers: z.array(z.object({ host: z.string(), certificate: z.string(), key: z.string() })),
});

export function authorityFolder(): string {
  return join(dataDirectory(), 'ca');
}

export function rootFile(folder: string = authorityFolder()): string {
  return join(folder, ROOT);
}

/** A fingerprint that changes whenever the result of `readAuthority` may have changed; '' while there is no authority. */
export function fingerprintOfFiles(folder: string): string {
  const marks = [folder, rootFile(folder), join(folder, ISSUERS)].map(fileMark);
  return marks[2] === '' ? '' : marks.join();
}

function fileMark(path: string): string {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return '';
    // A folder's times change with its entries.
    return [stats.ino, stats.uid, stats.mode, stats.isDirectory() ? '' : stats.ctimeMs].join(':');
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

/**
 * The root certificate, whether or not the authority still has its keys; null without one.
 *
 * @throws AuthorityError when it must not be used.
 */
export function readRoot(folder: string = authorityFolder()): X509Certificate | null {
  const text = readIn(folder, ROOT);
  return text === null ? null : parseCertificate(rootFile(folder), text);
}

/**
 * The authority; null when there is none.
 *
 * @throws AuthorityError when it must not be used: open to others, damaged, of another version.
 */
export function readAuthority(folder: string = authorityFolder()): Authority | null {
  const text = readIn(folder, ISSUERS);
  if (text === null) return null;
  const path = join(folder, ISSUERS);
  const root = readRoot(folder);
  if (root === null) throw damaged(rootFile(folder), 'it is gone');
  const { issuers } = parseIssuers(path, text);
  for (const issuer of issuers) checkIssuer(path, issuer, root);
  return { root: root.toString(), issuers };
}

/**
 * Writes an authority and deletes it again, to find out whether there is space before the former one is removed.
 *
 * @throws Error in one line when there is none.
 */
export async function tryAuthority(authority: Authority, folder: string = authorityFolder()): Promise<void> {
  try {
    await writeDraft(authority, folder);
  } catch (fault) {
    throw new Error(
      `nothing was changed: ${dirname(folder)} cannot hold a new CA: ${(fault as Error).message}`,
    );
  } finally {
    await removeDrafts(folder);
  }
}

/** Writes a new authority and replaces a former one. After a crash there is either of them or none. */
export async function writeAuthority(
  authority: Authority,
  folder: string = authorityFolder(),
): Promise<void> {
  try {
    const draft = await writeDraft(authority, folder);
    const old = await mkdtemp(`${draftPrefix(folder)}old-`);
    await rename(folder, join(old, 'ca')).catch((fault: NodeJS.ErrnoException) => {
      if (fault.code !== 'ENOENT') throw fault;
    });
    await rename(draft, folder);
    await flushFolder(dirname(folder));
  } finally {
    await removeDrafts(folder);
  }
}

/**
 * Makes the authority unusable: deletes its keys, and keeps the files that identify it in browsers' stores.
 */
export async function removeKeys(folder: string = authorityFolder()): Promise<void> {
  await removeDrafts(folder);
  await rm(join(folder, ISSUERS), { force: true });
}

/** Restricts the remaining files to their owner, as far as they belong to this user. */
export async function closeToOthers(folder: string = authorityFolder()): Promise<void> {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  await chmod(folder, PRIVATE_FOLDER_MODE).catch(() => {});
  for (const name of await readdir(folder))
    await chmod(join(folder, name), PRIVATE_FILE_MODE).catch(() => {});
}

/** Deletes the folder, and the data folder if it is empty then. @returns whether the folder existed. */
export async function removeFolder(folder: string = authorityFolder()): Promise<boolean> {
  await removeDrafts(folder);
  if (!lstatSync(folder, { throwIfNoEntry: false })) return false;
  await rm(folder, { recursive: true });
  await rmdir(dirname(folder)).catch(() => {});
  return true;
}

/** The text of a file of the authority; null when it or the folder is missing. */
export function readIn(folder: string, name: string): string | null {
  try {
    checkPrivateFolder(folder);
    return readPrivateFile(join(folder, name));
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (fault instanceof AuthorityError) throw fault;
    throw new AuthorityError(
      `${join(folder, name)} cannot be read: ${message}`,
      `run: ${launcherCommand('ca remove')}`,
    );
  }
}

/** Writes a file of the authority's folder atomically. */
export async function writeIn(folder: string, name: string, text: string): Promise<void> {
  replaceFile(join(folder, name), text, 'private');
  await flushFolder(folder);
}

/** A file that was edited, or written by another version. */
export function unknownContent(path: string): AuthorityError {
  return damaged(path, 'it is not what this version of hopwise-host has written');
}

function damaged(path: string, how: string): AuthorityError {
  return new AuthorityError(
    `${path}: ${how}`,
    `run: ${launcherCommand('ca remove')}, then: ${launcherCommand('ca create')}`,
  );
}

function parseIssuers(path: string, text: string): z.infer<typeof issuersSchema> {
  try {
    return issuersSchema.parse(JSON.parse(text));
  } catch {
    throw unknownContent(path);
  }
}

function parseCertificate(path: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw damaged(path, 'it is no certificate');
  }
}

/** A file that was edited would produce certificates that no browser accepts. */
function checkIssuer(path: string, { host, certificate, key }: Issuer, root: X509Certificate): void {
  const x509 = parseCertificate(path, certificate);
  if (!x509.checkIssued(root) || !x509.verify(root.publicKey))
    throw damaged(path, `the issuer of ${host} is not the root's`);
  if (!matches(x509, key)) throw damaged(path, `the key of ${host} is not its certificate's`);
}

function matches(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** @returns a folder beside its final place. */
async function writeDraft(authority: Authority, folder: string): Promise<string> {
  await mkdir(dirname(folder), { recursive: true });
  await removeDrafts(folder);
  // mkdtemp creates folders with mode 0700.
  const draft = await mkdtemp(`${draftPrefix(folder)}new-`);
  await writeFully(join(draft, ROOT), authority.root);
  const json = JSON.stringify({ version: VERSION, issuers: authority.issuers });
  await writeFully(join(draft, ISSUERS), json);
  await flushFolder(draft);
  return draft;
}

function draftPrefix(folder: string): string {
  return join(dirname(folder), `.${basename(folder)}-`);
}

/** Removes what a crash has left behind. */
async function removeDrafts(folder: string): Promise<void> {
  const prefix = basename(draftPrefix(folder));
  const names = await readdir(dirname(folder)).catch(() => []);
  for (const name of names) {
    if (name.startsWith(prefix)) await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

/** Writes and flushes a file, so that a rename after it never leaves an empty file. */
async function writeFully(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', PRIVATE_FILE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushFolder(folder: string): Promise<void> {
  // Windows cannot open folders.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
