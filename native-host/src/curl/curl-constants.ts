/**
 * Constants of libcurl's ABI, which never change once released (curl/curl.h, curl/multi.h of 8.14).
 * Their names are libcurl's, without the CURL prefix.
 */

const OBJECT_POINT = 10_000;
const FUNCTION_POINT = 20_000;
const OFF_T = 30_000;

/** `CURLOPT_*`. */
export const OPT = {
  WRITEDATA: OBJECT_POINT + 1,
  URL: OBJECT_POINT + 2,
  PROXY: OBJECT_POINT + 4,
  READDATA: OBJECT_POINT + 9,
  ERRORBUFFER: OBJECT_POINT + 10,
  WRITEFUNCTION: FUNCTION_POINT + 11,
  READFUNCTION: FUNCTION_POINT + 12,
  USERAGENT: OBJECT_POINT + 18,
  LOW_SPEED_LIMIT: 19,
  LOW_SPEED_TIME: 20,
  HTTPHEADER: OBJECT_POINT + 23,
  HEADERDATA: OBJECT_POINT + 29,
  CUSTOMREQUEST: OBJECT_POINT + 36,
  VERBOSE: 41,
  NOBODY: 44,
  UPLOAD: 46,
  FOLLOWLOCATION: 52,
  SSL_VERIFYPEER: 64,
  CAINFO: OBJECT_POINT + 65,
  HEADERFUNCTION: FUNCTION_POINT + 79,
  HTTPGET: 80,
  SSL_VERIFYHOST: 81,
  HTTP_VERSION: 84,
  DEBUGFUNCTION: FUNCTION_POINT + 94,
  DEBUGDATA: OBJECT_POINT + 95,
  CAPATH: OBJECT_POINT + 97,
  NOSIGNAL: 99,
  INFILESIZE_LARGE: OFF_T + 115,
  MAXFILESIZE_LARGE: OFF_T + 117,
  SOCKOPTFUNCTION: FUNCTION_POINT + 148,
  SOCKOPTDATA: OBJECT_POINT + 149,
  TIMEOUT_MS: 155,
  CONNECTTIMEOUT_MS: 156,
  HTTP_CONTENT_DECODING: 158,
  OPENSOCKETFUNCTION: FUNCTION_POINT + 163,
  OPENSOCKETDATA: OBJECT_POINT + 164,
  SEEKFUNCTION: FUNCTION_POINT + 167,
  SEEKDATA: OBJECT_POINT + 168,
  TCP_KEEPALIVE: 213,
  TCP_KEEPIDLE: 214,
  TCP_KEEPINTVL: 215,
  PIPEWAIT: 237,
  STREAM_WEIGHT: 239,
  DOH_URL: OBJECT_POINT + 279,
  CONNECT_TO: OBJECT_POINT + 243,
  REQUEST_TARGET: OBJECT_POINT + 266,
  QUICK_EXIT: 322,
  TCP_KEEPCNT: 326,
  PREREQFUNCTION: FUNCTION_POINT + 312,
  PREREQDATA: OBJECT_POINT + 313,
  PROTOCOLS_STR: OBJECT_POINT + 318,
} as const;

/** `CURLMOPT_*`. */
export const MULTI_OPT = {
  SOCKETFUNCTION: FUNCTION_POINT + 1,
  PIPELINING: 3,
  TIMERFUNCTION: FUNCTION_POINT + 4,
  MAXCONNECTS: 6,
  MAX_HOST_CONNECTIONS: 7,
  MAX_TOTAL_CONNECTIONS: 13,
  MAX_CONCURRENT_STREAMS: 16,
} as const;

/** `CURL_PREREQFUNC_*`: whether a request may be sent on its connection. */
export const PREREQ = { OK: 0, ABORT: 1 } as const;

/** `CURL_WRITEFUNC_PAUSE`: the same bytes are delivered again after `curl_easy_pause`. */
export const WRITE_PAUSE = 0x10000001;

/** `CURL_READFUNC_PAUSE`. */
export const READ_PAUSE = 0x10000001;

/** `CURL_SEEKFUNC_*`: whether a body could be rewound. */
export const SEEK = { OK: 0, FAIL: 1 } as const;

/** `CURLINFO_TEXT`: informational text, among the kinds of data that a debug function gets. */
export const DEBUG_TEXT = 0;

/** `CURLPAUSE_*`: directions that `curl_easy_pause` pauses. */
export const PAUSE = { NONE: 0, RECV: 1, SEND: 4 } as const;

const TEXT = 0x100000;
const LONG = 0x200000;
const SOCKET = 0x500000;
const OFF_T_INFO = 0x600000;

/** `CURLINFO_*`. */
export const INFO = {
  RESPONSE_CODE: LONG + 2,
  REQUEST_SIZE: LONG + 12,
  NUM_CONNECTS: LONG + 26,
  PRIMARY_IP: TEXT + 32,
  HTTP_VERSION: LONG + 46,
  ACTIVESOCKET: SOCKET + 44,
  SIZE_UPLOAD_T: OFF_T_INFO + 7,
  SIZE_DOWNLOAD_T: OFF_T_INFO + 8,
  TOTAL_TIME_T: OFF_T_INFO + 50,
  NAMELOOKUP_TIME_T: OFF_T_INFO + 51,
  CONNECT_TIME_T: OFF_T_INFO + 52,
  PRETRANSFER_TIME_T: OFF_T_INFO + 53,
  STARTTRANSFER_TIME_T: OFF_T_INFO + 54,
  APPCONNECT_TIME_T: OFF_T_INFO + 56,
} as const;

/** `CURL_HTTP_VERSION_*`: for `OPT.HTTP_VERSION`, and from `INFO.HTTP_VERSION`. */
export const HTTP_VERSION = {
  V1_0: 1,
  V1_1: 2,
  V2: 3,
  V2TLS: 4,
  V2_PRIOR_KNOWLEDGE: 5,
  V3: 30,
  V3ONLY: 31,
} as const;

/** `CURL_POLL_*`: events that the socket callback requests. */
export const POLL = { NONE: 0, IN: 1, OUT: 2, INOUT: 3, REMOVE: 4 } as const;

/** `CURL_CSELECT_*`: events passed to `curl_multi_socket_action`. */
export const CSELECT = { IN: 1, OUT: 2, ERR: 4 } as const;

/** `CURL_SOCKET_BAD`: no socket, and no connection attempt. */
export const SOCKET_BAD = -1;

/** `CURL_SOCKET_TIMEOUT`. */
export const SOCKET_TIMEOUT = -1;

/** `CURLPIPE_MULTIPLEX`. */
export const PIPE_MULTIPLEX = 2;

/** Bits of `curl_version_info_data.features`. */
export const VERSION_HTTP2 = 1 << 16;
export const VERSION_HTTP3 = 1 << 25;

/** The first libcurl with `CURLOPT_QUICK_EXIT`: 7.87. */
export const SINCE_QUICK_EXIT = 0x075700;

/** The first libcurl with `CURLOPT_TCP_KEEPCNT`: 8.9. */
export const SINCE_TCP_KEEPCNT = 0x080900;

/** `CURLVERSION_SEVENTH` (7.70): its structure ends with `cainfo`. */
export const VERSION_SEVENTH = 6;

/** The `CURLcode`s that the helper distinguishes. */
export const CODE = {
  OK: 0,
  UNSUPPORTED_PROTOCOL: 1,
  COULDNT_RESOLVE_HOST: 6,
  COULDNT_CONNECT: 7,
  WEIRD_SERVER_REPLY: 8,
  HTTP2: 16,
  WRITE_ERROR: 23,
  OPERATION_TIMEDOUT: 28,
  SSL_CONNECT_ERROR: 35,
  ABORTED_BY_CALLBACK: 42,
  BAD_FUNCTION_ARGUMENT: 43,
  SSL_CIPHER: 59,
  PEER_FAILED_VERIFICATION: 60,
  BAD_CONTENT_ENCODING: 61,
  FILESIZE_EXCEEDED: 63,
  SSL_CACERT_BADFILE: 77,
  SSL_CRL_BADFILE: 82,
  SSL_ISSUER_ERROR: 83,
  SSL_INVALIDCERTSTATUS: 91,
  HTTP3: 95,
  QUIC_CONNECT_ERROR: 96,
  SSL_CLIENTCERT: 98,
  TOO_LARGE: 100,
} as const;
