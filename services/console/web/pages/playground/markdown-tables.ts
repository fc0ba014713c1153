import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';

/** The most columns of a table. Each row is filled up to the widest one, so that a short text could make millions of cells. */
const mostColumns = 64;

interface MarkdownNode {
  type: string;
  align?: unknown[] | null;
  children?: MarkdownNode[];
}

interface Extensible {
  data: () => { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] };
}

/** A plugin of remark: tables as GitHub writes them, with a bound of their width. */
export function markdownTables(this: Extensible): (root: MarkdownNode) => void {
  const data = this.data();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), gfmTable()];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmTableFromMarkdown()];
  return cutTables;
}

function cutTables(node: MarkdownNode): void {
  for (const child of node.children ?? []) {
    if (child.type === 'table') {
      child.align = child.align?.slice(0, mostColumns) ?? null;
      for (const row of child.children ?? []) row.children = row.children?.slice(0, mostColumns) ?? [];
    } else {
      cutTables(child);
    }
  }
}
