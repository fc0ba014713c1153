import { Router, type Request } from 'express';
import { z } from 'zod';
import { displayNameSchema, emailSchema, type UserRecord } from '#shared/accounts/people/user.ts';
import type { Link as FoundLink } from '#shared/accounts/people/link-store.ts';
import type { SessionOpener } from '#shared/accounts/sign-in/session-store.ts';
import type { Link } from '../../contract/sign-in.ts';
import { ApiFailure } from '../api-failure.ts';
import { announceChange, writeAudit, type ApiParts } from '../api-parts.ts';
import { hashNewPassword } from './hash-new-password.ts';
import { openSessionOrSecondStep } from './start-session.ts';
import { requireLocalAccounts } from './signed-in.ts';
import { parse } from '../parse.ts';

const firstAdminForm = z.object({ name: displayNameSchema, email: emailSchema, password: z.string() });
const invitedForm = firstAdminForm.omit({ email: true });
const passwordForm = firstAdminForm.pick({ password: true });

/** Creates the routes for one-time links, which create an account or set a new password. The token alone gives access. */
export function linkRoutes(parts: ApiParts): Router {
  const { links } = parts.accounts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/links/:token', async (request, response) => {
    const link = (await links.find(request.params.token)) ?? refuseLink();
    requireLocalAccounts(parts, toOpener(link));
    response.json(toLinkAnswer(link));
  });
  routes.post('/links/:token', async (request, response) => {
    const { token } = request.params;
    const link = (await links.find(token)) ?? refuseLink();
    const opener = toOpener(link);
    requireLocalAccounts(parts, opener);
    const user = await useLink(parts, request, link, token);
    const action = link.kind === 'password' ? 'user.password' : 'user.create';
    const details = { link: link.kind, email: user.email, role: user.role };
    await writeAudit(parts, user, { action, target: { kind: 'user', id: user.id, name: user.name }, details });
    response.json(await openSessionOrSecondStep(parts, request, response, user, opener));
  });
  return routes;
}

/** Returns the opener to record with the session that a link opens. */
function toOpener(link: FoundLink): SessionOpener {
  const isPrinted = link.kind === 'first-admin' || (link.kind === 'password' && link.isPrinted);
  return isPrinted ? { link: 'printed' } : {};
}

function toLinkAnswer(link: FoundLink): Link {
  switch (link.kind) {
    case 'first-admin':
      return { kind: link.kind };
    case 'invitation':
      return { kind: link.kind, email: link.invitation.email };
    case 'password':
      return { kind: link.kind, email: link.user.email };
  }
}

async function useLink(parts: ApiParts, request: Request, link: FoundLink, token: string): Promise<UserRecord> {
  const { links, keys, signInGuard: guard, settings } = parts.accounts;
  const hash = (password: string, personalTexts: string[]) =>
    hashNewPassword(parts, request, { password, personalTexts, field: 'password' });
  switch (link.kind) {
    case 'first-admin': {
      const { name, email, password } = parse(firstAdminForm, request.body);
      const passwordHash = await hash(password, [name, email]);
      const user = requireCreated(await links.createFirstAdmin(token, { name, email, passwordHash }));
      // Without an answer of the store, every ingress reads the keys again within half a minute.
      const ownKeys = await keys.listOfOwner(user.id).catch(() => []);
      await Promise.all(ownKeys.map(({ id }) => parts.announce(id)));
      return user;
    }
    case 'invitation': {
      const { name, password } = parse(invitedForm, request.body);
      const passwordHash = await hash(password, [name, link.invitation.email]);
      const defaults = await settings.readNewPersonSettings(link.invitation.role);
      return requireCreated(await links.acceptInvitation(token, link.invitation, { name, passwordHash }, defaults));
    }
    case 'password': {
      const { password } = parse(passwordForm, request.body);
      const { id, name, email } = link.user;
      const passwordHash = await hash(password, [name, email]);
      const user = await announceChange(parts, `user:${id}`, () => links.resetPassword(token, id, passwordHash));
      if (!user) return refuseLink();
      await guard.giveBack({ address: request.ip ?? '', email });
      return user;
    }
  }
}

function requireCreated(outcome: UserRecord | 'no link' | 'email taken'): UserRecord {
  if (outcome === 'no link') return refuseLink();
  if (outcome === 'email taken') {
    throw new ApiFailure(409, 'email_taken', 'An account with this e-mail address exists already.', { field: 'email' });
  }
  return outcome;
}

function refuseLink(): never {
  throw new ApiFailure(404, 'no_link', 'This link is unknown, already used or expired. Ask for a new one.');
}
