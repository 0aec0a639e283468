/** The parts of `navigator.connection` in use (Network Information API); Chromium has it, and `type` on some systems only. */
interface Connection {
  type?: string;
  addEventListener(event: 'change', listener: () => void): void;
}

/** Calls back when the browser uses another kind of connection, such as a cable after Wi-Fi, as far as it says. */
export function listenToConnection(
  onChanged: () => void,
  connection = (navigator as { connection?: Connection }).connection,
): void {
  let type = connection?.type;
  // Also reports new estimates of rate and round trip.
  connection?.addEventListener('change', () => {
    if (connection.type === type) return;
    type = connection.type;
    onChanged();
  });
}
