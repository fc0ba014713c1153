/** Start of an `encrypted_content` that the router has made. */
const prefix = 'rtr1.';

/** Start of the ids of calls that the router has run. */
const idPrefix = 'srvtoolu_rtr_';

/**
 * Encodes the text of a result, so that its block carries the text to the next request. Clients read only titles and addresses, and send
 * the blocks back. The text is not encrypted, because it is not secret.
 */
export function encodeResultText(text: string): string {
  return prefix + Buffer.from(text).toString('base64url');
}

/** Decodes a text that `encodeResultText` returned; undefined for the text of another upstream, which only that upstream can read. */
export function decodeResultText(sealed: string): string | undefined {
  return sealed.startsWith(prefix) ? Buffer.from(sealed.slice(prefix.length), 'base64url').toString() : undefined;
}

/** Returns the client's id of a hosted call, made from the model's id. */
export function hostedCallId(id: string): string {
  return idPrefix + id;
}

/** Returns the model's id of a hosted call from the client's id. */
export function modelCallId(id: string): string {
  return id.slice(idPrefix.length);
}

/** Whether an id belongs to a call that the router has run. */
export function isOwnCallId(id: string): boolean {
  return id.startsWith(idPrefix);
}
