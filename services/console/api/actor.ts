import type { Response } from 'express';
import type { Person } from './access.ts';

/** Who sends a request to the API: a person who is signed in, or a program with an admin token. */
export interface Actor extends Person {
  name: string;
  /** The network address of the request. */
  address: string;
  /** The session of a person at the console. */
  sessionId?: string | undefined;
  /** The admin token of a program. */
  token?: { id: string; name: string } | undefined;
  /** Whether the token was made at a command line and belongs to nobody, and which one that was. */
  isOfCommandLine?: boolean | undefined;
  madeAt?: string | undefined;
}

/** Who sends this request. Only behind `requireSession` or `requireAdminToken`. */
export function actorOf(response: Response): Actor {
  return response.locals['actor'] as Actor;
}

export function setActor(response: Response, actor: Actor): void {
  response.locals['actor'] = actor;
}
