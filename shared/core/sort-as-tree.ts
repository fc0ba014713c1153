interface TreeItem {
  id?: string | undefined;
  /** The id of the item that started this one; undefined for none. */
  parent?: string | undefined;
}

/**
 * Sorts items into a tree, each right below the item that has started it, with its depth. An item whose parent is unknown, or that would
 * be its own ancestor, stands at the top.
 */
export function sortAsTree<T extends TreeItem>(all: readonly T[]): { each: T; depth: number }[] {
  const ids = new Set(all.map(({ id }) => id));
  const byParent = Map.groupBy(all, ({ parent }) => (ids.has(parent) ? parent : undefined));
  const ordered: { each: T; depth: number }[] = [];
  const placed = new Set<T>();
  const place = (each: T, depth: number): void => {
    if (placed.has(each)) return;
    placed.add(each);
    ordered.push({ each, depth });
    if (each.id !== undefined) for (const child of byParent.get(each.id) ?? []) place(child, depth + 1);
  };
  for (const each of byParent.get(undefined) ?? []) place(each, 0);
  for (const each of all) place(each, 0);
  return ordered;
}
