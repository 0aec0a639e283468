import { type AsyncFlateStreamHandler, Unzip, type UnzipDecoder, UnzipInflate } from 'fflate';
import { InputError, shown } from '../util/input-error.ts';

/** Playwright's have a file for each body. fflate takes longer for each than for those before. */
const MAX_FILES = 20_000;

/**
 * Unpacks the HAR in a zip file piece by piece, as Playwright writes it for a path that ends in `.zip`: beside it are files with bodies,
 * which are left out.
 */
export class ZippedHar {
  readonly #unzip: Unzip;
  #name: string | null = null;
  #isWhole = false;
  #files = 0;
  /** The first file that is no HAR, for who zipped one of another name. */
  #other: string | null = null;

  /** @param take gets the HAR's bytes, in pieces */
  constructor(take: (bytes: Uint8Array) => void) {
    this.#unzip = new Unzip((file) => {
      this.#files++;
      if (this.#files > MAX_FILES)
        throw new InputError(`top level: expected at most ${MAX_FILES} files in the zip file, got more`);
      if (!METHODS.includes(file.compression)) {
        // Until a file is started, fflate keeps what comes of it, and these it cannot start.
        throw new InputError(
          `top level: expected a zip file packed by deflate, got method ${file.compression} for ${shown(file.name)}`,
        );
      }
      if (!isHar(file.name)) {
        this.#other ??= file.name;
        file.ondata = () => {};
        file.start();
        return;
      }
      if (this.#name !== null) {
        throw new InputError(
          `top level: expected a zip file with one HAR, got ${shown(this.#name)} and ${shown(file.name)}`,
        );
      }
      this.#name = file.name;
      file.ondata = (error, bytes, isLast) => {
        if (error !== null) throw error;
        take(bytes);
        this.#isWhole ||= isLast;
      };
      file.start();
    });
    this.#unzip.register(HarInflate);
  }

  /** @throws InputError for what is no zip file, or has several HARs */
  add(bytes: Uint8Array): void {
    this.#push(bytes, false);
  }

  /** @throws InputError when the file ended early, or has no HAR */
  end(): void {
    this.#push(new Uint8Array(0), true);
    if (this.#name === null) {
      const got = this.#other === null ? 'an empty one' : `${shown(this.#other)}: unpack it first`;
      throw new InputError(`top level: expected a zip file with a HAR (.har), got ${got}`);
    }
    if (!this.#isWhole)
      throw new InputError(`top level: expected a whole zip file, got a part of ${shown(this.#name)}`);
  }

  #push(bytes: Uint8Array, isLast: boolean): void {
    try {
      this.#unzip.push(bytes, isLast);
    } catch (error) {
      if (error instanceof InputError) throw error;
      throw new InputError(`top level: expected a zip file, got ${(error as Error).message}`);
    }
  }
}

/** Unpacks HARs, and leaves other files packed. */
class HarInflate implements UnzipDecoder {
  static readonly compression = 8;
  ondata: AsyncFlateStreamHandler = () => {};
  readonly #inflate: UnzipInflate | null;

  constructor(name: string) {
    this.#inflate = isHar(name) ? new UnzipInflate() : null;
    if (this.#inflate) this.#inflate.ondata = (...data) => this.ondata(...data);
  }

  push(chunk: Uint8Array, isLast: boolean): void {
    this.#inflate?.push(chunk, isLast);
  }
}

/** Compression methods that fflate has a decoder for: none, and deflate. */
const METHODS = [0, HarInflate.compression];

/** Archives of macOS have a file of its own beside each. */
function isHar(name: string): boolean {
  return /\.har$/i.test(name) && !/(^|\/)(__MACOSX\/|\._)/.test(name);
}
