import { randomBytes } from 'node:crypto';

/** The start of ids of this router. Ids of vendors, which may pass on to an upstream, do not begin so. */
const mark = 'rtr';

const shownId = /^file[-_](rtr[0-9a-f]{24})$/;

/** Creates the id of a file, as it is stored. Each format shows it with a prefix of its own. */
export function createFileId(): string {
  return `${mark}${randomBytes(12).toString('hex')}`;
}

/** Returns the stored id for an id that a format shows; undefined for an id that is not of this router. */
export function parseFileId(shown: string): string | undefined {
  return shownId.exec(shown)?.[1];
}
