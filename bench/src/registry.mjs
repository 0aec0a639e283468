/**
 * The benches of `npm run bench -- NAME`. Plain JavaScript without imports: the npm script reads it before any package is
 * installed. A bench is a program of its own that parses its arguments.
 */

/**
 * @typedef {object} Bench
 * @property {string} script from the project's root
 * @property {string} needs the set-up that it needs (scripts/setup/steps.mjs)
 * @property {string} judges one line for the list
 */

/** @type {Record<string, Bench>} */
export const BENCHES = {
  product: {
    script: 'bench/src/product/main.ts',
    needs: 'all',
    judges: 'load times with hopwise as it ships, in real Chromium or Firefox beside the browser alone',
  },
  accuracy: {
    script: 'bench/src/accuracy/main.ts',
    needs: 'built',
    judges:
      "predictions of hopwise and of Lantern by measured loads; `golden` shows a change's before and after",
  },
  wild: {
    script: 'bench/src/wild/main.ts',
    needs: 'built',
    judges: "predictions by the load times in other people's recordings, of whatever recorder",
  },
  reading: {
    script: 'bench/src/reading/main.ts',
    needs: 'built',
    judges: 'what is read from emulated loads of drawn pages, by what is true of them',
  },
  flows: {
    script: 'bench/src/flows/main.ts',
    needs: 'pcwnd',
    judges: "the emulator's TCP and QUIC by single flows of the kernel and of quic-go",
  },
  udp: {
    script: 'bench/src/udp/main.ts',
    needs: 'udp',
    judges: "the probes' UDP verdicts by what the link does to UDP",
  },
  probe: {
    script: 'bench/src/probe/main.ts',
    needs: 'udp',
    judges: "the loss that probes measure by the link's settings",
  },
  loop: {
    script: 'bench/src/loop/main.ts',
    needs: 'matrix',
    judges: 'the closed loop as it ships by the best fixed protocol, in real Chromium',
  },
  'loop-emulated': {
    script: 'bench/src/loop/emulated/main.ts',
    needs: 'built',
    judges: "the autopilot's decisions and pins by the best fixed protocol, on emulated loads",
  },
  day: {
    script: 'bench/src/loop/day/main.ts',
    needs: 'built',
    judges: 'how many loads of a day are recorded in detail and learned, on emulated loads, beside all',
  },
  rollback: {
    script: 'bench/src/rollback/main.ts',
    needs: 'built',
    judges: 'the rollback checker by measured loads that switch between protocols',
  },
  transport: {
    script: 'bench/src/transport/main.ts',
    needs: 'built',
    judges: 'the choice between TCP and QUIC of `auto` pins, by measured sessions that are replayed',
  },
  speed: {
    script: 'bench/src/speed/main.ts',
    needs: 'built',
    judges:
      'time and memory of warm emulations by page size, and the joint assignment, by targets; with --work what learning a network and a prediction take',
  },
  lantern: {
    script: 'bench/src/lantern/main.ts',
    needs: 'built',
    judges: "the emulator's speed beside Lantern's on recorded pages",
  },
  assignment: {
    script: 'bench/src/assignment/main.ts',
    needs: 'built',
    judges: 'the search for the best assignment by origin, by trying all assignments',
  },
  exchange: {
    script: 'bench/src/pins/exchange.ts',
    needs: 'helper',
    judges: 'throughput and latency of exchanges through the engine beside libcurl alone',
  },
  pin: {
    script: 'bench/src/pins/pin-effect.ts',
    needs: 'record',
    judges: 'how long a pin takes to change the protocol of a page open in Chromium',
  },
  tunnel: {
    script: 'bench/src/pins/tunnel.ts',
    needs: 'built',
    judges: "latency and throughput of a pin's tunnel beside tinyproxy",
  },
  terminating: {
    script: 'bench/src/pins/terminating.ts',
    needs: 'helper',
    judges: 'latency and throughput of a pin to a protocol beside mitmproxy',
  },
  helper: {
    script: 'bench/src/helper/main.ts',
    needs: 'helper',
    judges: 'what it takes to start the helper for one question',
  },
  recorder: {
    script: 'bench/src/recorder/main.ts',
    needs: 'record',
    judges: 'what recording costs a page: load time, processor time, memory',
  },
  popup: {
    script: 'bench/src/popup/main.ts',
    needs: 'record',
    judges: 'how soon the popup shows something, and its headline',
  },
  faults: {
    script: 'bench/src/faults/main.ts',
    needs: 'helper',
    judges: 'exchanges of pinned origins under random faults in mid-transfer',
  },
  'browser-faults': {
    script: 'bench/src/browser-faults/main.ts',
    needs: 'all',
    judges: 'the same in a real browser with the extension',
  },
  windows: {
    script: 'bench/src/windows/main.ts',
    needs: 'pcwnd',
    judges: "initial windows that the server's agent learns, by the best fixed one of each network",
  },
  'access-log': {
    script: 'bench/src/windows/access-log.ts',
    needs: 'built',
    judges: "lines a second that the server's agent reads, and its memory",
  },
  fuzz: {
    script: 'bench/src/fuzz/main.ts',
    needs: 'helper',
    judges: 'every parser of untrusted input, by changed inputs',
  },
};
