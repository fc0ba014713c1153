import { hash } from 'node:crypto';

/** Signs of a request's purpose in its body. They reveal the purpose if the sending program is known. Contains no long text. */
export interface RequestSigns {
  /** The first characters of the instructions; empty if there are none. */
  instructions: string;
  /** The first characters of each of the last four blocks of instructions; undefined in a format with instructions in one text. */
  lastInstructions?: readonly string[];
  /** The first characters of the user's last text; empty if there is none. */
  lastText: string;
  /** Whether the client offers tools that it defines itself. */
  hasOwnTools: boolean;
  /** Whether the instructions carry a mark for a provider's prompt cache. */
  cachesInstructions: boolean;
  /** Whether the request asks for a compaction, in a format that can express this. */
  isCompaction: boolean;
}

const startLength = 64;

/** Returns the first characters of a text as a copy. A slice would keep the whole text in memory. */
export function copyStartOfText(text: string): string {
  return Buffer.from(text.slice(0, startLength)).toString();
}

/** Identifies the requests that share an upstream's prompt cache. Both fields are digests, so that they keep no body in memory. */
export interface Conversation {
  /** Digest of the client's id for the conversation; undefined if the body has none. */
  name: string | undefined;
  /** Digest of the texts at the start of the conversation: its instructions and first messages. */
  start: string;
}

/** The digest covers at most this many texts of the start. */
const maxTexts = 16;

/** The digest covers at most this many characters at each end of a text. */
const endLength = 512;

/**
 * Digests a conversation's name and start.
 * @param name the field of the body that names the conversation; counts as absent if it is empty or not a text
 * @param texts the texts of the start, in order; the digest covers the length and both ends of each
 */
export function digestConversation(name: unknown, texts: Iterable<string>): Conversation {
  const digestedTexts: string[] = [];
  for (const text of texts) {
    if (digestedTexts.length === maxTexts) break;
    const ends = text.length > 2 * endLength ? `${text.slice(0, endLength)}${text.slice(-endLength)}` : text;
    digestedTexts.push(`${text.length}:${ends}`);
  }
  const isNamed = typeof name === 'string' && name !== '';
  return { name: isNamed ? digest(name) : undefined, start: digest(digestedTexts.join('')) };
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
