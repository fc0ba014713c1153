import { z } from 'zod';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: sign-in sessions, and programs that people sign in. All paths are below
 * `/console/api`. Times are milliseconds since 1970.
 */

export const personsSessionSchema = z
  .object({
    id: z.string(),
    current: z.literal(true).exactOptional().describe('The session of this request.'),
    startedAt: time,
    usedAt: z.number().describe('The time of its last request, in milliseconds since 1970, to the minute.'),
    address: z.string().exactOptional().describe('The network address that the session was opened from.'),
    browser: z.string().describe('For example `Firefox on Linux`.'),
    provider: z
      .string()
      .exactOptional()
      .describe(
        'The identity provider at which the session was opened. Absent: it was opened with a password or a link.',
      ),
  })
  .meta({ id: 'Session' });

/**
 * `GET /sessions`: the sign-in sessions of the signed-in person; `DELETE /sessions/<id>` ends a session. `GET /users/<id>/sessions` and
 * `DELETE /users/<id>/sessions/<session>`: the same for any person (admins).
 */
export type ListedSignInSession = z.output<typeof personsSessionSchema>;

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
