import { renderStoredData } from './stored-data.ts';

const content = document.getElementById('content')!;

content.replaceChildren(await renderStoredData());
