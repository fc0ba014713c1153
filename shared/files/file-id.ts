import { randomBytes } from 'node:crypto';

/** The start of ids of this router. Ids of vendors, which may be passed on to an upstream, begin differently. */
const idStart = 'rtr';

const shownId = /^file[-_](rtr[0-9a-f]{24})$/;

/** Creates the stored id of a file. Each format shows it with a different prefix. */
export function createFileId(): string {
  return `${idStart}${randomBytes(12).toString('hex')}`;
}

/** Returns the stored id for an id that a format shows; undefined for an id that is not of this router. */
export function parseFileId(shown: string): string | undefined {
  return shownId.exec(shown)?.[1];
}
