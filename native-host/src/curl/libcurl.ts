/**
 * libcurl through koffi: the functions that the engine calls, with their C prototypes. Only the
 * engine's child process loads this: a crash of the native library ends that process alone.
 */
import koffi from 'koffi';
import { VERSION_HTTP2, VERSION_HTTP3, VERSION_SEVENTH } from './curl-constants.ts';
import { nativeMemory, type Pointer } from './native-memory.ts';
import { PermittedSockets } from './permitted-sockets.ts';

export type { Pointer } from './native-memory.ts';

/** The version information of the loaded library. */
export interface CurlVersion {
  /** Such as `8.14.1`. */
  version: string;
  /** `0xMMmmpp`. */
  number: number;
  tls: string;
  /** '' when built without. */
  nghttp2: string;
  /** '' when built without; such as `ngtcp2/1.11.0 nghttp3/1.8.0`. */
  quic: string;
  http2: boolean;
  http3: boolean;
  /** Compiled-in CA bundle, '' when there is none. */
  caFile: string;
}

/** The oldest libcurl with `CURLOPT_PROTOCOLS_STR`, which keeps every transfer to https. */
const MIN_VERSION = 0x075500;

const VersionData = koffi.struct('hopwise_curl_version_info_data', {
  age: 'int',
  version: 'const char *',
  version_num: 'uint',
  host: 'const char *',
  features: 'int',
  ssl_version: 'const char *',
  ssl_version_num: 'long',
  libz_version: 'const char *',
  protocols: 'void *',
  ares: 'const char *',
  ares_num: 'int',
  libidn: 'const char *',
  iconv_ver_num: 'int',
  libssh_version: 'const char *',
  brotli_ver_num: 'uint',
  brotli_version: 'const char *',
  nghttp2_ver_num: 'uint',
  nghttp2_version: 'const char *',
  quic_version: 'const char *',
  cainfo: 'const char *',
});

/** `CURLMsg` as C lays it out: an int, the handle, and a union of a pointer and the result. */
const POINTER_BYTES = koffi.sizeof('void *');
const MESSAGE_BYTES = 3 * POINTER_BYTES;
const MESSAGE_RESULT_AT = 2 * POINTER_BYTES;

// A socket is an int on POSIX and a pointer-sized handle on Windows.
const SOCKET = process.platform === 'win32' ? 'uintptr_t' : 'int';

/** The prototypes of libcurl's callbacks; `uintptr_t` is the number of the transfer. */
const PROTOTYPES = {
  data: koffi.proto('hopwise_data_cb', 'size_t', ['void *', 'size_t', 'size_t', 'uintptr_t']),
  sockopt: koffi.proto('hopwise_sockopt_cb', 'int', ['uintptr_t', SOCKET, 'int']),
  opensocket: koffi.proto('hopwise_opensocket_cb', SOCKET, ['uintptr_t', 'int', 'void *']),
  prereq: koffi.proto('hopwise_prereq_cb', 'int', [
    'uintptr_t',
    'const char *',
    'const char *',
    'int',
    'int',
  ]),
  seek: koffi.proto('hopwise_seek_cb', 'int', ['uintptr_t', 'int64_t', 'int']),
  debug: koffi.proto('hopwise_debug_cb', 'int', ['void *', 'int', 'void *', 'size_t', 'uintptr_t']),
  socket: koffi.proto('hopwise_socket_cb', 'int', ['void *', SOCKET, 'int', 'void *', 'void *']),
  timer: koffi.proto('hopwise_timer_cb', 'int', ['void *', 'long', 'void *']),
};

interface CallbackFunctions {
  data(data: Pointer, size: number, count: number, id: number): number;
  sockopt(id: number, socket: number, purpose: number): number;
  opensocket(id: number, purpose: number, address: Pointer): number;
  prereq(id: number, remoteIp: string): number;
  seek(id: number, offset: number): number;
  debug(easy: Pointer, kind: number, data: Pointer, size: number, id: number): number;
  socket(easy: Pointer, socket: number, what: number): number;
  timer(multi: Pointer, timeoutMs: number): number;
}

/**
 * The library at `path`, initialised.
 *
 * @throws Error with the loader's message when the file is missing, is no libcurl or is too old.
 */
export function loadLibcurl(path: string) {
  // Node exports its own OpenSSL; with deep binding an OpenSSL build of libcurl uses its own.
  const library = koffi.load(path, { deep: true });
  const versionInfo = library.func('void *curl_version_info(int age)');
  const globalInit = library.func('int curl_global_init(long flags)');
  const easyInit = library.func('void *curl_easy_init()');
  const easyCleanup = library.func('void curl_easy_cleanup(void *easy)');
  const easyStrerror = library.func('const char *curl_easy_strerror(int code)');
  const setopt = library.func('int curl_easy_setopt(void *easy, int option, ...)');
  const getinfo = library.func('int curl_easy_getinfo(void *easy, int info, ...)');
  const slistAppend = library.func('void *curl_slist_append(void *list, const void *text)');
  const easyPause = library.func('int curl_easy_pause(void *easy, int directions)');
  const slistFreeAll = library.func('void curl_slist_free_all(void *list)');
  const multiInit = library.func('void *curl_multi_init()');
  const multiCleanup = library.func('int curl_multi_cleanup(void *multi)');
  const multiSetopt = library.func('int curl_multi_setopt(void *multi, int option, ...)');
  const multiAdd = library.func('int curl_multi_add_handle(void *multi, void *easy)');
  const multiRemove = library.func('int curl_multi_remove_handle(void *multi, void *easy)');
  const multiStrerror = library.func('const char *curl_multi_strerror(int code)');
  const socketAction = library.func('curl_multi_socket_action', 'int', [
    'void *',
    SOCKET,
    'int',
    koffi.out(koffi.pointer('int')),
  ]);
  const globalTrace = sinceGlobalTrace(() => library.func('int curl_global_trace(const char *config)'));
  const infoRead = library.func('void *curl_multi_info_read(void *multi, _Out_ int *left)');

  const data = koffi.decode(versionInfo(VERSION_SEVENTH), VersionData);
  if (data.age < VERSION_SEVENTH || data.version_num < MIN_VERSION) {
    throw new Error(`libcurl ${data.version} is too old, 7.85 or later is needed`);
  }
  const version: CurlVersion = {
    version: data.version,
    number: data.version_num,
    tls: data.ssl_version ?? '',
    nghttp2: data.nghttp2_version ?? '',
    quic: data.quic_version ?? '',
    http2: (data.features & VERSION_HTTP2) !== 0,
    http3: (data.features & VERSION_HTTP3) !== 0,
    caFile: data.cainfo ?? '',
  };

  let initialised = false;
  const number64 = koffi.alloc('int64_t', 1);
  const running = [0];
  const memory = nativeMemory();
  const message = Buffer.alloc(MESSAGE_BYTES);

  const check = (code: number, what: string): void => {
    if (code !== 0) throw new Error(`libcurl refused ${what}: ${easyStrerror(code)}`);
  };
  const checkMulti = (code: number, what: string): void => {
    if (code !== 0) throw new Error(`libcurl failed in ${what}: ${multiStrerror(code)}`);
  };

  return {
    version,
    sockets: new PermittedSockets(memory),

    /** `curl_global_init(CURL_GLOBAL_ALL)`, once. */
    initialise(): void {
      if (!initialised) check(globalInit(3), 'curl_global_init');
      initialised = true;
    },

    /** Adds trace components to what debug functions get; named as for `curl --trace-config`. */
    trace(components: string): void {
      globalTrace?.(components);
    },

    easyInit(): Pointer {
      const easy = easyInit() as Pointer | null;
      if (!easy) throw new Error('libcurl is out of memory');
      return easy;
    },
    easyCleanup: easyCleanup as (easy: Pointer) => void,
    errorText: easyStrerror as (code: number) => string,

    setLong(easy: Pointer, option: number, value: number): void {
      check(setopt(easy, option, 'long', value), `option ${option} = ${value}`);
    },
    setOffset(easy: Pointer, option: number, value: number): void {
      check(setopt(easy, option, 'int64_t', value), `option ${option} = ${value}`);
    },
    setText(easy: Pointer, option: number, value: string): void {
      check(setopt(easy, option, 'const char *', value), `option ${option}`);
    },
    setPointer(easy: Pointer, option: number, value: Pointer | null): void {
      check(setopt(easy, option, 'void *', value), `option ${option}`);
    },
    /** The number is passed back as the callback's user pointer. */
    setId(easy: Pointer, option: number, id: number): void {
      check(setopt(easy, option, 'uintptr_t', id), `option ${option}`);
    },

    /** 0 when libcurl has no such figure. */
    infoLong(easy: Pointer, info: number): number {
      koffi.encode(number64, 'int64_t', 0);
      return getinfo(easy, info, 'void *', number64) === 0 ? Number(koffi.decode(number64, 'long')) : 0;
    },
    /** 0 when libcurl has no such figure. */
    infoOffset(easy: Pointer, info: number): number {
      koffi.encode(number64, 'int64_t', 0);
      return getinfo(easy, info, 'void *', number64) === 0 ? Number(koffi.decode(number64, 'int64_t')) : 0;
    },

    /** `SOCKET_BAD` when libcurl has no such socket. Its numbers have 32 bits but on Windows, where they fit into as many. */
    infoSocket(easy: Pointer, info: number): number {
      koffi.encode(number64, 'int64_t', -1);
      return getinfo(easy, info, 'void *', number64) === 0 ? Number(koffi.decode(number64, 'int32_t')) : -1;
    },

    /** '' when libcurl has no such text. */
    infoText(easy: Pointer, info: number): string {
      koffi.encode(number64, 'int64_t', 0);
      return getinfo(easy, info, 'void *', number64) === 0
        ? ((koffi.decode(number64, 'const char *') as string | null) ?? '')
        : '';
    },

    /** Lines in Latin-1, as header fields are (RFC 9110 section 5.5). */
    list(lines: string[]): Pointer | null {
      let list: Pointer | null = null;
      for (const line of lines) list = slistAppend(list, Buffer.from(`${line}\0`, 'latin1')) as Pointer;
      return list;
    },
    freeList: slistFreeAll as (list: Pointer | null) => void,

    /** @returns libcurl's result code: a transfer may fail as it is resumed. */
    pause: easyPause as (easy: Pointer, directions: number) => number,

    multiInit(): Pointer {
      const multi = multiInit() as Pointer | null;
      if (!multi) throw new Error('libcurl is out of memory');
      return multi;
    },
    multiCleanup(multi: Pointer): void {
      checkMulti(multiCleanup(multi), 'curl_multi_cleanup');
    },
    multiSetLong(multi: Pointer, option: number, value: number): void {
      checkMulti(multiSetopt(multi, option, 'long', value), `multi option ${option}`);
    },
    multiSetPointer(multi: Pointer, option: number, value: Pointer | null): void {
      checkMulti(multiSetopt(multi, option, 'void *', value), `multi option ${option}`);
    },
    multiAdd(multi: Pointer, easy: Pointer): void {
      checkMulti(multiAdd(multi, easy), 'curl_multi_add_handle');
    },
    multiRemove(multi: Pointer, easy: Pointer): void {
      checkMulti(multiRemove(multi, easy), 'curl_multi_remove_handle');
    },
    /** @returns the number of transfers in progress after it. */
    socketAction(multi: Pointer, socket: number, events: number): number {
      checkMulti(socketAction(multi, socket, events, running), 'curl_multi_socket_action');
      return running[0]!;
    },
    /** The next finished transfer, its `CURLcode` and the number of further ones; null for none. */
    nextFinished(multi: Pointer): { easy: Pointer; code: number; left: number } | null {
      const found = infoRead(multi, running) as Pointer | null;
      if (!found) return null;
      // A raw copy: decoding to an object with koffi costs more than the call.
      memory.read(found, message);
      const easy =
        POINTER_BYTES === 8
          ? message.readBigUInt64LE(POINTER_BYTES)
          : BigInt(message.readUInt32LE(POINTER_BYTES));
      return { easy, code: message.readInt32LE(MESSAGE_RESULT_AT), left: running[0]! };
    },

    /**
     * Registers a callback. koffi would turn an exception into a return value of zero; this reports it to `onFault`, and returns
     * `failure`.
     */
    callback<Kind extends keyof CallbackFunctions>(
      kind: Kind,
      onFault: (fault: Error) => void,
      run: CallbackFunctions[Kind],
      failure = 0,
    ): Pointer {
      const guarded = (...args: unknown[]): number => {
        try {
          return (run as (...args: unknown[]) => number)(...args);
        } catch (fault) {
          onFault(fault as Error);
          return failure;
        }
      };
      return koffi.register(guarded, koffi.pointer(PROTOTYPES[kind]));
    },
    freeCallback: (callback: Pointer): void => koffi.unregister(callback),

    /** The bytes that a callback received. */
    text: (data: Pointer, length: number): string => koffi.decode(data, 'char', length) as string,
    allocText: (bytes: number): Pointer => koffi.alloc('char', bytes) as Pointer,
    readText: (data: Pointer): string => koffi.decode.string(data) ?? '',
    free: (data: Pointer): void => koffi.free(data),
  };
}

/** `curl_global_trace` exists since libcurl 8.3. */
function sinceGlobalTrace<T>(find: () => T): T | null {
  try {
    return find();
  } catch {
    return null;
  }
}

export type Libcurl = ReturnType<typeof loadLibcurl>;
