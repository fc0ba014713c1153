import type { Response } from 'express';
import type { AdminTokenRecord } from '#shared/accounts/admin-tokens/admin-token.ts';
import type { Person } from './access.ts';

/** What of an admin token matters to what is done with it. */
export type ActingToken = Pick<AdminTokenRecord, 'id' | 'name' | 'madeAt' | 'expiresAt' | 'isForCommand'>;

/** Who sends a request to the API: a person who is signed in, or a program with an admin token. */
export interface Actor extends Person {
  name: string;
  /** The network address of the request. */
  address: string;
  /** The session of a person at the console. */
  sessionId?: string | undefined;
  /** The admin token of a program. One that was made at a command line, as `ada@workstation`, belongs to nobody. */
  token?: ActingToken | undefined;
  /** The `tokenEpoch` of the person; absent: 0. */
  tokenEpoch?: number | undefined;
}

/** Who sends this request. Only behind `requireSession` or `requireAdminToken`. */
export function actorOf(response: Response): Actor {
  return response.locals['actor'] as Actor;
}

export function setActor(response: Response, actor: Actor): void {
  response.locals['actor'] = actor;
}
