/** Returns whether an object has all wanted values already. Absent, null and empty count as the same. */
export function changesNothing(now: object, wanted: object): boolean {
  const values = new Map<string, unknown>(Object.entries(now));
  return Object.entries(wanted).every(([name, value]) => textOf(values.get(name)) === textOf(value));
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? {});
}
