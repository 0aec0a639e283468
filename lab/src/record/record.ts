/** `npm run lab -- record`: turns a page on the network into a site that the lab serves. */

import { firstLine } from '@hopwise/contract';
import { writingProblem } from '@hopwise/contract/command-line';
import { UserError } from '../command/errors.ts';
import { foreignFile, writeSite } from '../sites/write-site.ts';
import { type CaptureOptions, capture } from './capture.ts';
import { RECORD_FILE, type RecordedPage, recordedPage } from './recorded-page.ts';

export interface RecordOptions extends CaptureOptions {
  /** Folder of the site; nothing is written elsewhere. */
  out: string;
  /** Name of the site. */
  name: string;
  /** Protocols that the site's origins offer: all, or those seen. */
  protocols: 'all' | 'seen';
}

/**
 * Records a page and writes it to `out`, replacing an existing site.
 *
 * @throws UserError in one line
 */
export async function record(options: RecordOptions): Promise<RecordedPage> {
  await checkOut(options.out);
  const captured = await capture(options);
  options.signal.throwIfAborted();
  const page = await recordedPage(captured, options).catch((error) => {
    if (error instanceof RangeError) throw new UserError(error.message);
    throw error;
  });
  await writeSite(page, options.out).catch((error) => {
    throw new UserError(`--out ${options.out}: the page could not be written: ${firstLine(error)}`);
  });
  return page;
}

/** Checks the folder first, as a recording takes a while. */
async function checkOut(out: string): Promise<void> {
  const foreign = await foreignFile(out, [RECORD_FILE]).catch((error) => {
    throw new UserError(`--out ${out}: expected a folder that can be made, ${writingProblem(error)}`, 2);
  });
  if (foreign !== null)
    throw new UserError(`--out ${out}: expected a site or nothing there, found ${foreign}`, 2);
}
