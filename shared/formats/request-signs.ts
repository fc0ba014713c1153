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
