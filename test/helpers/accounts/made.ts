/**
 * Returns the created or found object.
 * @throws an Error with the reason in its place, or if there is none
 */
export function made<Thing extends object>(outcome: Thing | string | undefined): Thing {
  if (typeof outcome !== 'object') throw new Error(outcome ?? 'there is none');
  return outcome;
}
