import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { renderTable } from './render-table.ts';

/** Source files and configuration: everything that a change of the product can start in. */
const patterns = [
  '{shared,services}/**/*.{ts,tsx,mjs,lua}',
  'deploy/**/*.{ts,yml,yaml,cfg,conf,tpl,json}',
  'deploy/Dockerfile',
];

/** All files of the product by folder: the index of docs/architecture.md. */
export function renderFileIndex(): string {
  const files = globSync(patterns).filter((file) => !file.split('/').includes('dist'));
  const byFolder = Map.groupBy(files.toSorted(), (file) => dirname(file));
  return renderTable(
    ['folder', 'files'],
    [...byFolder].map(([folder, found]) => [
      `\`${folder}\``,
      found.map((file) => basename(file).replace(/\.tsx?$/, '')).join(', '),
    ]),
  );
}
