let dropped = 0;

/**
 * Notes that what a page reported was dropped: a renderer that was captured may speak for other sites, so the browser's own URL of the
 * document decides.
 *
 * @param said the URL that the page or the sender of its report names
 * @param url of the document that the browser has loaded in the tab
 */
export function noteDroppedReport(said: string, url: string): void {
  dropped++;
  const count = `${dropped} ${dropped === 1 ? 'report' : 'reports'}`;
  console.warn(
    `hopwise: dropped ${count} from another site than the tab shows, the last of`,
    said,
    'at',
    url,
  );
}
