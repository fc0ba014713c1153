import type { RouterError } from '#shared/core/errors.ts';

/** A file as formats show it. Times in ms since 1970. */
export interface ShownFile {
  /** Its id as it is stored: without a format's prefix. */
  id: string;
  purpose: string;
  name: string;
  mimeType: string;
  bytes: number;
  createdAt: number;
  /** Undefined for a file that does not expire. */
  expiresAt?: number | undefined;
}

/** What the form of an upload says besides the file. */
export interface UploadFields {
  purpose: string;
  /** Milliseconds until the file expires; undefined for never. */
  expiresAfterMs?: number | undefined;
}

/** Which files a list is asked for, by ids as the format shows them. */
export interface FileListQuery {
  purpose?: string | undefined;
  newestFirst: boolean;
  /** The file behind which the page begins, or before which it ends. */
  after?: string | undefined;
  before?: string | undefined;
  /** Most files on the page. */
  limit: number;
  /** These files, and no others. */
  ids?: readonly string[] | undefined;
}

/** How a format shows files, at paths of their own. */
export interface FormatFiles {
  /** The path below the API's prefixes. An id follows it. */
  path: string;
  /** The id as the format shows it. */
  shownId: (id: string) => string;
  /** Reads the fields of the form of an upload, by their names. @throws RouterError `invalid_request`, `missing_parameter` */
  readUpload: (fields: ReadonlyMap<string, string>) => UploadFields;
  /** Reads the query of a list. @throws RouterError `invalid_request` */
  readList: (query: Readonly<Record<string, unknown>>) => FileListQuery;
  show: (file: ShownFile) => object;
  /** @param hasMore whether there are more in the direction in which the page was asked for */
  list: (files: readonly ShownFile[], hasMore: boolean, query: FileListQuery) => object;
  /** The body that confirms that a file was removed. */
  removed: (shownId: string) => object;
  /** The error for an id that the key's owner has not. */
  notFound: (shownId: string, param?: string) => RouterError;
}
