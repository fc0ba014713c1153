/**
 * Returns the newer list. An item that has not changed is the earlier object, so that React does not render it again.
 * @param newerItems items parsed from JSON
 */
export function reuseUnchanged<Item extends { id: string }>(
  earlierItems: readonly Item[] | undefined,
  newerItems: Item[],
): Item[] {
  if (!earlierItems) return newerItems;
  const earlierById = new Map(earlierItems.map((thing) => [thing.id, thing]));
  return newerItems.map((item) => {
    const earlierItem = earlierById.get(item.id);
    return earlierItem && isEqual(earlierItem, item) ? earlierItem : item;
  });
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(other, name) &&
      isEqual((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
  );
}
