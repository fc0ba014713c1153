/**
 * Returns the newer list, with the old object for each item that has not changed, so that React does not render it again.
 * @param after items parsed from JSON
 */
export function reuseUnchanged<Thing extends { id: string }>(
  before: readonly Thing[] | undefined,
  after: Thing[],
): Thing[] {
  if (!before) return after;
  const known = new Map(before.map((thing) => [thing.id, thing]));
  return after.map((thing) => {
    const earlier = known.get(thing.id);
    return earlier && isEqual(earlier, thing) ? earlier : thing;
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
