interface TreeItem {
  id?: string | undefined;
  /** The id of the item that started this item; undefined if no item did. */
  parent?: string | undefined;
}

/**
 * Sorts items as the rows of a tree: each item follows its parent, and has its depth. An item whose parent is missing, or that would be its
 * own ancestor, is at the top.
 */
export function sortAsTree<T extends TreeItem>(items: readonly T[]): { item: T; depth: number }[] {
  const ids = new Set(items.map(({ id }) => id));
  const byParent = Map.groupBy(items, ({ parent }) => (ids.has(parent) ? parent : undefined));
  const ordered: { item: T; depth: number }[] = [];
  const placed = new Set<T>();
  const placeItem = (item: T, depth: number): void => {
    if (placed.has(item)) return;
    placed.add(item);
    ordered.push({ item, depth });
    if (item.id !== undefined) for (const child of byParent.get(item.id) ?? []) placeItem(child, depth + 1);
  };
  for (const root of byParent.get(undefined) ?? []) placeItem(root, 0);
  for (const item of items) placeItem(item, 0);
  return ordered;
}
