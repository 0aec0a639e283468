import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { readingProblem } from '@hopwise/contract/command-line';
import { UserError } from '../command/errors.ts';

/** A CA of the user's own that is trusted besides the system's. */
interface TrustedCa {
  /** Absolute path of the PEM file. */
  file: string;
  /** Base64 SHA-256 of its public key, by which Chromium knows it. */
  spki: string;
}

/** @throws UserError when `path`, given as `--ca`, is no certificate */
export async function readCa(path: string): Promise<TrustedCa> {
  const file = resolve(path);
  const pem = await readFile(file).catch((error) => {
    throw new UserError(`--ca ${path}: expected a certificate as PEM, ${readingProblem(error)}`, 2);
  });
  try {
    const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
    return { file, spki: createHash('sha256').update(key).digest('base64') };
  } catch (error) {
    throw new UserError(`--ca ${path}: expected a certificate as PEM: ${firstLine(error)}`, 2);
  }
}
