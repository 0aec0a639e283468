import { pageHead } from '@hopwise/extension/report';
import { themeCss } from './charts.ts';

/**
 * A self-contained page without scripts, in hopwise's colours and type.
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
