/**
 * A tool call's id as the messages format takes it: letters, digits, `_` and `-`. Other characters are written by their
 * code, so that different ids stay different.
 */
export function messagesToolId(id: string): string {
  return id.replaceAll(/[^\w-]/g, (character) => `_x${character.charCodeAt(0).toString(16)}_`);
}
