/**
 * What of a request's body tells what it is for, to somebody who knows the program that sent it. It keeps no long text in
 * memory.
 */
export interface RequestSigns {
  /** The first characters of its instructions; empty without instructions. */
  instructions: string;
  /** The first characters of each of the last four blocks of instructions; undefined in a format whose instructions are one text. */
  lastInstructions?: readonly string[];
  /** The first characters of the last text of the user; empty without one. */
  lastText: string;
  /** Whether it has tools that the client runs. */
  hasOwnTools: boolean;
  /** Whether its instructions are marked to be kept in the cache of a provider. */
  cachesInstructions: boolean;
  /** Whether its format says that it is a compaction. */
  compacts: boolean;
}

/** Characters of a text that are read. */
const length = 64;

/** The first characters of a text, as a copy: a slice would keep all of the text in memory. */
export function startOfText(text: string): string {
  return Buffer.from(text.slice(0, length)).toString();
}
