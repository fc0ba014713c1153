import { hash } from 'node:crypto';

/** What tells which requests share the prompt cache of an upstream. Both are digests, so that they do not keep a body in memory. */
export interface Conversation {
  /** What the client calls it in the body; undefined if it does not. */
  name: string | undefined;
  /** Its start: the system prompt and the first message of the user. */
  start: string;
}

/** Texts that are read of a start, at most. */
const maxTexts = 16;

/** Characters that are read at each end of a text. */
const endLength = 512;

/**
 * Digests a conversation's name and start.
 * @param name the field of the body that names it; anything but a text counts as none
 * @param texts the texts of its start, in order; of each one its length and both ends count
 */
export function conversationOf(name: unknown, texts: Iterable<string>): Conversation {
  const read: string[] = [];
  for (const text of texts) {
    if (read.length === maxTexts) break;
    const ends = text.length > 2 * endLength ? `${text.slice(0, endLength)}${text.slice(-endLength)}` : text;
    read.push(`${text.length}:${ends}`);
  }
  const isNamed = typeof name === 'string' && name !== '';
  return { name: isNamed ? digest(name) : undefined, start: digest(read.join('')) };
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
