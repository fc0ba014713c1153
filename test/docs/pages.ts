import { globSync, readFileSync } from 'node:fs';

export interface Page {
  /** Path from the root of the project. */
  path: string;
  text: string;
}

/** The pages at the top of the project, and every page of `docs/` and `deploy/`. */
export function readPages(): Page[] {
  const paths = globSync(['*.md', 'docs/**/*.md', 'deploy/**/*.md']).toSorted();
  return paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

/** The page without its fenced code blocks. */
export function proseOf(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
}

/** The fenced code blocks of one language, without their indentation. */
export function codeBlocks(text: string, language: string): string[] {
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'));
  return [...blocks].map(([, indent = '', code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** The anchors of a page's headings, as GitHub and npm make them. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
    const anchor = plain
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
}
