import { InputError, parseRecording, predict } from '@hopwise/pageload-emulator';

/**
 * The best protocol for the page that DevTools saw.
 *
 * @param seen what `chrome.devtools.network.getHAR` gives, or an array of what `onRequestFinished` gave
 */
export function bestFromDevTools(seen: unknown): string {
  try {
    return predict(parseRecording(seen)).best;
  } catch (error) {
    // "entries[3].timings.wait: expected a number, got "x"": the place, what was expected there, what was found.
    if (error instanceof InputError) return error.message;
    throw error;
  }
}
