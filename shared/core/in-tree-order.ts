/** Something that another one of its kind may have started. */
interface Started {
  id?: string | undefined;
  /** The id of that one; undefined for none. */
  parent?: string | undefined;
}

/**
 * Things with their depth in the tree of what has started what, each right below the one that has started it. One whose parent is unknown,
 * or that would be above itself, stands at the top.
 */
export function inTreeOrder<T extends Started>(all: readonly T[]): { each: T; depth: number }[] {
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
