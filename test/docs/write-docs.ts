import { writeFileSync } from 'node:fs';
import { readPages } from './pages.ts';
import { withTables } from './tables/tables.ts';

// Run by `npm run docs`: regenerates the tables of the README and the docs from the code.
for (const { path, text } of readPages()) {
  const current = withTables(text);
  if (current !== text) writeFileSync(path, current);
}
