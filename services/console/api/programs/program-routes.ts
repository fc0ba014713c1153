import { Router } from 'express';
import { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import { isUserCode } from '#shared/accounts/sign-in/programs/device-codes.ts';
import type { Programs } from '#shared/accounts/sign-in/programs/programs.ts';
import type { Logger } from '#shared/core/log.ts';
import type { SignedInProgram } from '../../contract/sessions.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { announceChange, writeAudit } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { guardGuess } from '../session/guard-guess.ts';
import { getSignedIn, type SignedIn } from '../session/signed-in.ts';

export interface ProgramRoutesParts {
  accounts: Accounts;
  programs: Pick<Programs, 'store' | 'devices'>;
  /** See `ApiParts`. */
  announce: (changed: string) => Promise<void>;
  log: Logger;
}

const decisionBody = z.strictObject({ decision: z.enum(['approve', 'deny']), teamId: z.string().max(100).optional() });

/**
 * Creates the routes for the programs that people sign in. A person approves a sign-in by the code that the program shows, and can sign
 * programs out.
 */
export function programRoutes(parts: ProgramRoutesParts): Router {
  const { accounts, programs } = parts;
  const routes = Router({ caseSensitive: true, strict: true });
  // The method is POST, because the request counts as a try of a code and other origins may not send a POST.
  routes.post('/devices/:code/find', async (request, response) => {
    response.json(await findWaitingSignIn(getSignedIn(response), request.params.code));
  });
  routes.post('/devices/:code', async (request, response) => {
    const person = getSignedIn(response);
    const { code } = request.params;
    const { decision, teamId } = parse(decisionBody, request.body);
    const { client, address } = await findWaitingSignIn(person, code);
    const team = teamId === undefined ? undefined : await requireTeam(person, teamId);
    const { devices } = programs;
    const isDone = decision === 'deny' ? await devices.deny(code) : await devices.approve(code, person.user, team?.id);
    if (!isDone) throw notFound();
    const details = { client, address, ...(team && { team: { id: team.id, name: team.name } }) };
    await auditProgram(person, decision === 'deny' ? 'program.deny' : 'program.approve', details);
    response.status(204).end();
  });
  routes.get('/programs', async (_, response) => {
    const records = await programs.store.listOfPerson(getSignedIn(response).id);
    const teams = await accounts.teams.findAll([...new Set(records.flatMap(({ teamId }) => teamId ?? []))]);
    response.json(
      records.map(({ id, client, address, createdAt, usedAt, teamId }): SignedInProgram => {
        const team = teams.find((each) => each.id === teamId);
        return { id, client, address, createdAt, usedAt, ...(team && { team: { id: team.id, name: team.name } }) };
      }),
    );
  });
  routes.delete('/programs/:id', async (request, response) => {
    const person = getSignedIn(response);
    const { id } = request.params;
    const program = await programs.store.find(id);
    if (program?.userId !== person.id) throw notFound();
    const signedOut = await announceChange(parts, `program:${id}`, () =>
      programs.store.signOut(id, { userId: person.id }),
    );
    if (!signedOut) throw notFound();
    await auditProgram(person, 'program.sign-out', { client: program?.client });
    response.status(204).end();
  });
  return routes;

  /**
   * Returns the sign-in that waits for approval under a code.
   * @throws ApiFailure 404 for a wrong code, 429 after too many wrong codes
   */
  async function findWaitingSignIn({ id, address }: SignedIn, code: string) {
    const unknownCode = new ApiFailure(404, 'no_device', 'This code is unknown, already used or expired.', {
      field: 'code',
    });
    if (!isUserCode(code)) throw unknownCode;
    const signIn = await guardGuess(parts, {
      // Wrong codes count like wrong passwords, but separately and per person.
      signInTry: { address, email: id, device: 'program-code' },
      refusal: 'Too many wrong codes.',
      judge: () => programs.devices.find(code),
      // Anybody can get a right code, so a right code must not reset the count of wrong codes.
      resetsCount: false,
    });
    if (!signIn) throw unknownCode;
    return { client: signIn.client, address: signIn.address, createdAt: signIn.createdAt };
  }

  async function requireTeam({ teams }: SignedIn, teamId: string) {
    const team = teams.has(teamId) ? await accounts.teams.find(teamId) : undefined;
    if (!team) throw new ApiFailure(404, 'not_found', 'You are not in this team.', { field: 'teamId' });
    return team;
  }

  async function auditProgram(person: SignedIn, action: string, details: Record<string, unknown>): Promise<void> {
    const target = { kind: 'user', id: person.id, name: person.name };
    await writeAudit(parts, person, { action, target, details });
  }
}

/**
 * Creates a listener that writes an entry into the audit trail when the refresh token of a program is used a second time. Whoever sent the
 * token then may have stolen it.
 */
export function createReplayListener(parts: { accounts: Accounts; log: Logger }) {
  return async ({ programId, userId }: { programId: string; userId: string }): Promise<void> => {
    const name = (await parts.accounts.users.readNames([userId])).get(userId) ?? '';
    await writeAudit(parts, null, {
      action: 'program.replay',
      target: { kind: 'user', id: userId, name },
      details: { program: programId },
    });
  };
}
