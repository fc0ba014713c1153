/** What was made or found. @throws an Error with the reason that is in its place, if there is nothing */
export function made<Thing extends object>(outcome: Thing | string | undefined): Thing {
  if (typeof outcome !== 'object') throw new Error(outcome ?? 'there is none');
  return outcome;
}
