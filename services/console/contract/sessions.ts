/*
 * The contract between the console's pages and its API: sessions of people. All paths are below `/console/api`. Times are milliseconds since
 * 1970.
 */

/**
 * `GET /sessions`: those of the signed-in person, `DELETE /sessions/<id>` ends one. `GET /users/<id>/sessions` and `DELETE
 * /users/<id>/sessions/<session>`: the same of a person (admins).
 */
export interface PersonsSession {
  id: string;
  /** The session of this request. */
  current?: true;
  startedAt: number;
  /** Of its last request, to the minute. */
  usedAt: number;
  /** The network address that it was opened from. */
  address?: string;
  /** As `Firefox on Linux`. */
  browser: string;
  /** The identity provider that has opened it; absent: a password or a link has. */
  provider?: string;
}
