interface TreeItem {
  id?: string | undefined;
  /** The id of the item that started this item; undefined if no item did. */
  parent?: string | undefined;
}

/**
 * Sorts items as the rows of a tree: each item follows its parent, and has its depth. An item whose parent is missing, or that would be its
 * own ancestor, is at the top.
 */
export function sortAsTree<T extends TreeItem>(items: readonly T[]): { each: T; depth: number }[] {
  const ids = new Set(items.map(({ id }) => id));
  const byParent = Map.groupBy(items, ({ parent }) => (ids.has(parent) ? parent : undefined));
  const ordered: { each: T; depth: number }[] = [];
  const placed = new Set<T>();
  const placeItem = (each: T, depth: number): void => {
    if (placed.has(each)) return;
    placed.add(each);
    ordered.push({ each, depth });
    if (each.id !== undefined) for (const child of byParent.get(each.id) ?? []) placeItem(child, depth + 1);
  };
  for (const each of byParent.get(undefined) ?? []) placeItem(each, 0);
  for (const each of items) placeItem(each, 0);
  return ordered;
}
