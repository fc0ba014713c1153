import type { Response } from 'express';
import type { Person } from './access.ts';

/** Who sends a request to the API: a person who is signed in, or a program with an admin token. */
export interface Actor extends Person {
  name: string;
  /** The network address of the request. */
  address: string;
  /** The session of a person at the console. */
  sessionId?: string | undefined;
  /** The admin token of a program. One that was made at a command line, as `ada@workstation`, belongs to nobody. */
  token?: { id: string; name: string; madeAt?: string | undefined } | undefined;
}

/** Who sends this request. Only behind `requireSession` or `requireAdminToken`. */
export function actorOf(response: Response): Actor {
  return response.locals['actor'] as Actor;
}

export function setActor(response: Response, actor: Actor): void {
  response.locals['actor'] = actor;
}
