import { Router } from 'express';
import type { SessionFacts } from '#shared/accounts/sign-in/session-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { PersonsSession } from '../../contract/sessions.ts';
import { requireAccess } from '../access.ts';
import { notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { browserName } from './browser-name.ts';
import { signedInOf, type SignedIn } from './signed-in.ts';

/** The sessions of the signed-in person, and, for administrators, those of everybody: to see, and to end one by one. */
export function sessionListRoutes(parts: ApiParts): Router {
  const { sessions, users } = parts.accounts;
  const routes = Router();
  routes.get('/sessions', async (_, response) => {
    const { user, sessionId } = signedInOf(response);
    response.json(await list(user, sessions.hashOf(sessionId)));
  });
  routes.delete('/sessions/:id', async (request, response) => {
    const person = signedInOf(response);
    await end(person, person.user, request.params.id);
    response.status(204).end();
  });
  routes.get('/users/:user/sessions', async (request, response) => {
    const user = await find(signedInOf(response), request.params.user);
    response.json(await list(user));
  });
  routes.delete('/users/:user/sessions/:id', async (request, response) => {
    const person = signedInOf(response);
    await end(person, await find(person, request.params.user), request.params.id);
    response.status(204).end();
  });
  return routes;

  async function list(user: UserRecord, current?: string): Promise<PersonsSession[]> {
    return (await sessions.listOf(user)).map((session) => answerOf(session, current));
  }

  async function find(person: SignedIn, id: string): Promise<UserRecord> {
    requireAccess('user.manage', person);
    const user = await users.find(id);
    if (!user) throw notFound();
    return user;
  }

  async function end(person: SignedIn, { id, name }: UserRecord, session: string): Promise<void> {
    if (!(await sessions.endByHash(id, session))) throw notFound();
    await record(parts, person, { action: 'session.end', target: { kind: 'user', id, name }, details: {} });
  }
}

function answerOf(
  { hash, startedAt, usedAt, provider, address, agent }: SessionFacts,
  current?: string,
): PersonsSession {
  return {
    id: hash,
    ...(hash === current && { current: true }),
    startedAt,
    usedAt,
    ...(address !== undefined && { address }),
    browser: browserName(agent),
    ...(provider !== undefined && { provider }),
  };
}
