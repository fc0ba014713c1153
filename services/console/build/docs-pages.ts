import { globSync, readFileSync } from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';

/** The pages of the site besides those of `docs/`, and their names there. */
const pagesOfRoot: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'security.md',
};

/** A file of the site's sources. */
export interface DocsFile {
  /** Its path in the project. */
  source: string;
  /** Its path on the site. */
  path: string;
  content: string | Buffer;
}

/** Reads the pages of the documentation with their pictures, and writes their links for the site. */
export function readDocsPages(root: string): DocsFile[] {
  const sources = [...Object.keys(pagesOfRoot), ...globSync('docs/**/*.{md,svg,png}', { cwd: root })];
  return sources
    .filter((source) => !source.startsWith('docs/site/'))
    .toSorted()
    .map((source) => {
      const content = readFileSync(join(root, source));
      const path = findSitePath(source) ?? source;
      return { source, path, content: extname(source) === '.md' ? linkForSite(source, String(content)) : content };
    });
}

/** The path on the site of a file of the project; undefined if the site lacks it. */
function findSitePath(source: string): string | undefined {
  const ofRoot = pagesOfRoot[source];
  if (ofRoot !== undefined) return ofRoot;
  if (source === 'CONTRIBUTING.md') return 'contributing.md';
  if (!/^docs\/.+\.(?:md|svg|png)$/.test(source)) return undefined;
  return source.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Makes links between pages relative to the site. The site has no sources: a link to one becomes its text, with the file as its title. */
export function linkForSite(source: string, text: string): string {
  const here = dirname(findSitePath(source) ?? source);
  return text
    .split(/^( *```[\s\S]*?^ *```$)/m)
    .map((piece, index) =>
      index % 2 === 1 ? piece : piece.replaceAll(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, write),
    )
    .join('');

  function write(link: string, image: string, label: string, target: string): string {
    if (/^(?:[a-z]+:|#)/.test(target)) return link;
    const [file = '', anchor] = target.split('#');
    const named = posix.join(dirname(source), file);
    const path = findSitePath(named);
    if (path === undefined) return `<span class="source" title="${named}">${label}</span>`;
    const relative = posix.relative(here, path).replace(/^(?!\.)/, './');
    return `${image}[${label}](${relative}${anchor === undefined ? '' : `#${anchor}`})`;
  }
}
