import { pageHead } from '@hopwise/lab/output/page-head';
import { themeCss } from './charts.ts';

/**
 * A page of one file that needs nothing else and runs no script, in the colours and type of everything that hopwise shows.
 *
 * @param title plain text without markup
 * @param main HTML
 */
export async function staticPage(title: string, style: string, main: string): Promise<string> {
  return `${pageHead(title, `${await themeCss()}${style}`)}
<body>
<main>
${main}
</main>
</body>
</html>
`;
}
