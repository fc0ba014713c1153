import type { RouterError } from '#shared/core/errors.ts';

/** The properties of a file that formats show. Times are in ms since 1970. */
export interface ShownFile {
  /** The id as stored, without a format's prefix. */
  id: string;
  purpose: string;
  name: string;
  mimeType: string;
  bytes: number;
  createdAt: number;
  /** Undefined for a file that does not expire. */
  expiresAt?: number | undefined;
}

export interface UploadFields {
  purpose: string;
  /** Milliseconds until the file expires; undefined if it never expires. */
  expiresAfterMs?: number | undefined;
}

/** A request for a list of files. Ids are as the format shows them. */
export interface FileListQuery {
  purpose?: string | undefined;
  newestFirst: boolean;
  /** The page begins after the file `after`, or ends before the file `before`. */
  after?: string | undefined;
  before?: string | undefined;
  limit: number;
  /** If present, the list contains only these files. */
  ids?: readonly string[] | undefined;
}

export interface FormatFiles {
  /** The path below the API's prefixes. The path of one file adds its id. */
  path: string;
  shownId: (id: string) => string;
  /**
   * Reads the fields of an upload form by their names.
   * @throws RouterError `invalid_request`, `missing_parameter`
   */
  readUpload: (fields: ReadonlyMap<string, string>) => UploadFields;
  /**
   * Reads the query of a list.
   * @throws RouterError `invalid_request`
   */
  readList: (query: Readonly<Record<string, unknown>>) => FileListQuery;
  show: (file: ShownFile) => object;
  /** @param hasMore whether more files follow in the direction of the request */
  list: (files: readonly ShownFile[], hasMore: boolean, query: FileListQuery) => object;
  showRemoval: (shownId: string) => object;
  /** Returns the error for an id that no file of the key's owner has. */
  notFound: (shownId: string, param?: string) => RouterError;
}
