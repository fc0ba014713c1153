/** Start of an `encrypted_content` that the router has made. */
const prefix = 'rtr1.';

/** Start of the ids of calls that the router has run. */
const idPrefix = 'srvtoolu_rtr_';

/**
 * The text of a result as its block carries it to the next request. Clients read only titles and addresses of results and send
 * the blocks back; the text is no secret of anybody's.
 */
export function sealText(text: string): string {
  return prefix + Buffer.from(text).toString('base64url');
}

/** Opens what `sealText` has made; undefined for the text of another upstream, which only that one can read. */
export function openText(sealed: string): string | undefined {
  return sealed.startsWith(prefix) ? Buffer.from(sealed.slice(prefix.length), 'base64url').toString() : undefined;
}

/** The id of a hosted call, from the one that the model gave it. */
export function hostedCallId(id: string): string {
  return idPrefix + id;
}

/** The id that the model gave a hosted call. */
export function modelCallId(id: string): string {
  return id.slice(idPrefix.length);
}

/** Whether the router has run the call with this id. */
export function isOwnCallId(id: string): boolean {
  return id.startsWith(idPrefix);
}
