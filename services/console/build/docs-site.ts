import { join } from 'node:path';

/** `npm run docs:site`: builds the documentation's site unless it is up to date. The ingress serves it under `/docs`. */

const { buildDocs } = await import('./build-docs.ts');
await buildDocs(join(import.meta.dirname, '..', '..', '..'));
process.stdout.write('The documentation is built.\n');
