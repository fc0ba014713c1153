/** A place in a tool's input, as clients are told of it: `input.items[0].name`. */
export function fieldPath(steps: readonly PropertyKey[]): string {
  const path = steps.map((step) => (isIndex(step) ? `[${String(step)}]` : `.${String(step)}`));
  return `input${path.join('')}`;
}

function isIndex(step: PropertyKey): boolean {
  return typeof step === 'number' || (typeof step === 'string' && /^\d+$/.test(step));
}
