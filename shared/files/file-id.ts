import { randomBytes } from 'node:crypto';

/** Ids of this router begin so: those of vendors, which may pass on to an upstream, do not. */
const mark = 'rtr';

const shownId = /^file[-_](rtr[0-9a-f]{24})$/;

/** A new id of a file, as it is stored. Each format shows it with a prefix of its own. */
export function mintFileId(): string {
  return `${mark}${randomBytes(12).toString('hex')}`;
}

/** The id as it is stored, of one that a format shows; undefined for one that is not of this router. */
export function fileIdOf(shown: string): string | undefined {
  return shownId.exec(shown)?.[1];
}
