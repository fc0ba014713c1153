/**
 * Returns a matcher for an answer that refuses.
 * @param field the wrong field
 */
export function refusal(status: number, code: string, field?: string) {
  return { status, body: { error: { code, ...(field !== undefined && { field }) } } };
}

/** Matches the refusal of an object that does not exist, or is hidden. */
export const notFound = refusal(404, 'not_found');

export const denied = refusal(403, 'permission_denied');

/** Matches the refusal of a wrong field. */
export function wrongField(field: string) {
  return { status: 400, body: { error: { field } } };
}
