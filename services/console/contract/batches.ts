/*
 * The contract between the console's pages and its API: batches and files. The rules of `account.ts` apply.
 *
 * Whose they are is said as `user:<id>`, `team:<id>` or, of a router key, `key:<id>`. A person sees their own and those of their teams, an
 * administrator sees all. What is in a file is for its owner alone: the person, or the owners of the team.
 *
 * Pages upload files and create batches at the API of a client format, as the signed-in person.
 */

/** A person, a team, or a router key. */
export interface Owner {
  kind: 'user' | 'team' | 'key';
  id: string;
  name: string;
}

/**
 * `GET /batches?owner=<owner>&limit=<1..500>&after=<id>`: `{ batches: Batch[], more: boolean }`, the newest first, behind this batch.
 * `GET /batches/open` (admins): those of everybody that are not over, the next to expire first, 200 at most. `GET /batches/<id>`: a
 * BatchDetails. `POST /batches/<id>/cancel` answers the batch.
 */
export interface Batch {
  id: string;
  owner: Owner;
  /** What its lines are sent to, as `/v1/chat/completions`. */
  endpoint: string;
  /** The model that its first line asks for. */
  model?: string;
  state: 'validating' | 'running' | 'finishing' | 'ended' | 'failed';
  createdAt: number;
  runningAt?: number;
  endedAt?: number;
  /** What is not done by then expires. */
  expiresAt: number;
  /** When it was asked to be cancelled. */
  cancelledAt?: number;
  /** Lines; 0 until they are counted. */
  total: number;
  succeeded: number;
  errored: number;
  cancelled: number;
  expired: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  /** US dollars so far. */
  cost: number;
  /** While its lines wait for a limit: which one, in words, and when they are tried again. */
  paused?: { reason: string; until: number };
  /** Ids of the files with its results. */
  outputFile?: string;
  errorFile?: string;
  mayCancel: boolean;
  /** Whether the signed-in person may read its files. */
  mayRead: boolean;
}

export interface BatchDetails extends Batch {
  inputFile: string;
  metadata: Readonly<Record<string, string>>;
  /** What is wrong with its input: why it has failed. The message may quote the input, and is there for those who may read it. */
  problems: { code: string; message?: string; line?: number }[];
  /** The first lines that ended with an error: the code of the error table, and the number of the line. */
  firstErrors: { code: string; line?: number }[];
}

/**
 * `GET /files?owner=<owner>&limit=<1..500>&after=<id>`: a FileList, the newest first. `GET /files/<id>/content?owner=<owner>` is the content,
 * to be saved; `DELETE /files/<id>?owner=<owner>` deletes the file.
 */
export interface FileList {
  files: OwnedFile[];
  more: boolean;
  /** What all files of the owner take, uploads included, and may take. */
  use: { bytes: number; mostBytes: number; files: number; mostFiles: number };
  mayRead: boolean;
  mayDelete: boolean;
}

export interface OwnedFile {
  /** As it is stored: APIs show it with a prefix of their own, and take it with `file-`. */
  id: string;
  name: string;
  purpose: string;
  bytes: number;
  lines: number;
  createdAt: number;
  /** Absent for a file that does not expire. */
  expiresAt?: number;
}
