import type { Response } from 'express';
import type { AdminTokenRecord } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import type { Person } from './access.ts';

export type ActingToken = Pick<AdminTokenRecord, 'id' | 'name' | 'madeAt' | 'expiresAt' | 'isForCommand'>;

/** The sender of a request to the API: a signed-in person, or a program with an admin token. */
export interface Actor extends Person {
  name: string;
  address: string;
  /** The id of the person's sign-in session at the console; undefined for a program. */
  sessionId?: string | undefined;
  /** The admin token of a program. A token with `madeAt` was made at a command line and belongs to nobody. */
  token?: ActingToken | undefined;
  /** The `tokenEpoch` of the person's record, see `UserRecord`. Absent: 0. */
  tokenEpoch?: number | undefined;
}

/** Returns the sender of this request, whom `requireSession` or `requireAdminToken` must have identified before. */
export function getActor(response: Response): Actor {
  return response.locals['actor'] as Actor;
}

export function setActor(response: Response, actor: Actor): void {
  response.locals['actor'] = actor;
}
