/** Returns whether an object has all wanted values already. An absent value, null and `{}` count as the same. */
export function hasAllValues(current: object, wanted: object): boolean {
  const values = new Map<string, unknown>(Object.entries(current));
  return Object.entries(wanted).every(([name, value]) => toComparable(values.get(name)) === toComparable(value));
}

function toComparable(value: unknown): string {
  return JSON.stringify(value ?? {});
}
