/** What an answer that refuses is matched with. @param field that is wrong */
export function refusal(status: number, code: string, field?: string) {
  return { status, body: { error: { code, ...(field !== undefined && { field }) } } };
}

/** There is no such thing, as far as they may know. */
export const notFound = refusal(404, 'not_found');

export const denied = refusal(403, 'permission_denied');

/** A field of a request is wrong. */
export function wrongField(field: string) {
  return { status: 400, body: { error: { field } } };
}
