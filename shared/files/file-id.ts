import { randomBytes } from 'node:crypto';

/** The start of the ids of this router. Ids of vendors begin differently, and may be passed on to an upstream. */
const idStart = 'rtr';

const shownIdPattern = /^file[-_](rtr[0-9a-f]{24})$/;

/** Creates the stored id of a file. Each format shows it with a different prefix. */
export function createFileId(): string {
  return `${idStart}${randomBytes(12).toString('hex')}`;
}

/** Returns the stored id for an id that a format shows; undefined for an id of another system. */
export function parseFileId(shown: string): string | undefined {
  return shownIdPattern.exec(shown)?.[1];
}
