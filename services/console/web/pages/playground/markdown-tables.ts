import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';

/** The most columns of a table, and cells of all. Each row is filled up to the widest one, so that a short text could make millions. */
const mostColumns = 64;
const mostCells = 20_000;

/** The most levels that anything is nested. Browsers end a page that has some thousands. */
const mostLevels = 100;

interface MarkdownNode {
  type: string;
  align?: unknown[] | null;
  children?: MarkdownNode[];
}

interface Extensible {
  data: () => { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] };
}

/**
 * A plugin of remark: tables as GitHub writes them, with a bound of their width. A text with more cells than fit, or that is nested too deep,
 * is refused with an error.
 */
export function markdownTables(this: Extensible): (root: MarkdownNode) => void {
  const data = this.data();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), gfmTable()];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmTableFromMarkdown()];
  return (root) => {
    if (cutTables(root, 0) > mostCells) throw new Error('The text has too many cells of tables.');
  };
}

/** Returns the cells of all tables. */
function cutTables(node: MarkdownNode, level: number): number {
  if (level > mostLevels) throw new Error('The text is nested too deep.');
  let cells = 0;
  if (node.type === 'table') {
    node.align = node.align?.slice(0, mostColumns) ?? null;
    const rows = node.children ?? [];
    for (const row of rows) row.children = row.children?.slice(0, mostColumns) ?? [];
    cells += rows.length * (rows[0]?.children?.length ?? 0);
  }
  for (const child of node.children ?? []) cells += cutTables(child, level + 1);
  return cells;
}
