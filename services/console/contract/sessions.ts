import { z } from 'zod';

/*
 * The contract between the console's pages and its API: sign-in sessions. All paths are below `/console/api`. Times are milliseconds since
 * 1970.
 */

export const personsSessionSchema = z
  .object({
    id: z.string(),
    current: z.literal(true).exactOptional().describe('The session of this request.'),
    startedAt: z.number().describe('Milliseconds since 1970.'),
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
