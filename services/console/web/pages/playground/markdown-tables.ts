import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';

/**
 * Maximum number of columns of a table. Without this limit, a short text could make millions of cells, because short rows are padded to
 * the width of the table.
 */
const maxColumns = 64;

/** Maximum number of cells of all tables together. */
const maxCells = 20_000;

/** Maximum nesting depth of a text. Browsers crash on a page with thousands of levels. */
const maxLevels = 100;

interface MarkdownNode {
  type: string;
  align?: unknown[] | null;
  children?: MarkdownNode[];
}

interface Extensible {
  data: () => { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] };
}

/**
 * A remark plugin that reads tables in GitHub's notation, and cuts them to `maxColumns`.
 * @throws Error for a text with too many cells or too many levels
 */
export function markdownTables(this: Extensible): (root: MarkdownNode) => void {
  const data = this.data();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), gfmTable()];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmTableFromMarkdown()];
  return (root) => {
    if (cutTables(root, 0) > maxCells) throw new Error('The text has too many cells of tables.');
  };
}

/** Cuts wide tables and returns the number of cells of all tables. */
function cutTables(node: MarkdownNode, level: number): number {
  if (level > maxLevels) throw new Error('The text is nested too deep.');
  let cells = 0;
  if (node.type === 'table') {
    node.align = node.align?.slice(0, maxColumns) ?? null;
    const rows = node.children ?? [];
    for (const row of rows) row.children = row.children?.slice(0, maxColumns) ?? [];
    cells += rows.length * (rows[0]?.children?.length ?? 0);
  }
  for (const child of node.children ?? []) cells += cutTables(child, level + 1);
  return cells;
}
