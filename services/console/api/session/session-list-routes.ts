import { Router } from 'express';
import { notFound } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { listSignInSessions } from './list-sign-in-sessions.ts';
import { getSignedIn } from './signed-in.ts';

export function sessionListRoutes(parts: ApiParts): Router {
  const { sessions } = parts.accounts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/sessions', async (_, response) => {
    const { user, sessionId } = getSignedIn(response);
    response.json(await listSignInSessions(sessions, user, sessions.hashOf(sessionId)));
  });
  routes.delete('/sessions/:id', async (request, response) => {
    const person = getSignedIn(response);
    const { id, name } = person;
    if (!(await sessions.endByHash(id, request.params.id))) throw notFound();
    await writeAudit(parts, person, { action: 'session.end', target: { kind: 'user', id, name }, details: {} });
    response.status(204).end();
  });
  return routes;
}
