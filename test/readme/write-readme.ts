import { readFileSync, writeFileSync } from 'node:fs';
import { withTables } from './tables.ts';

// Run by `npm run readme`: makes the README's tables anew from the code.
writeFileSync('README.md', withTables(readFileSync('README.md', 'utf8')));
