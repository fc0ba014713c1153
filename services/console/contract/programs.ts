/*
 * The contract between the console's pages and its API: programs that people sign in. All paths are below `/console/api`. Times are
 * milliseconds since 1970.
 */

/**
 * `POST /devices/<code>/find`: the program that waits for a person to approve its sign-in (404: unknown, decided or expired).
 * `POST /devices/<code>` `{ decision: 'approve' | 'deny', teamId? }` decides. Too many wrong codes: 429 with `retry-after`.
 */
export interface WaitingProgram {
  /** The name that the program states; nothing proves it. */
  client: string;
  address: string;
  createdAt: number;
}

/** `GET /programs`: the programs of the signed-in person; `DELETE /programs/<id>` signs a program out. */
export interface SignedInProgram extends WaitingProgram {
  id: string;
  /** The team that the program's requests count for; absent: the person. */
  team?: { id: string; name: string };
  /** The time at which the program last got an access token. */
  usedAt: number;
}
