import { Router } from 'express';
import { z } from 'zod';
import { consoleSettingsSchema } from '#shared/accounts/people/console-settings.ts';
import type { AuditEntry, Settings } from '../contract/account.ts';
import { requireAccess } from './access.ts';
import { record, type ApiParts } from './api-parts.ts';
import { parse } from './parse.ts';
import { hideDeleted } from './people/hide-deleted.ts';
import { signedInOf } from './session/signed-in.ts';

const page = z.object({
  before: z
    .string()
    .regex(/^\d{1,16}$/, 'This is not the id of an entry.')
    .optional(),
});
const change = consoleSettingsSchema.partial();

/** The audit trail and the console's settings, for administrators. */
export function adminRoutes(parts: ApiParts): Router {
  const { audit, settings, users } = parts.accounts;
  const routes = Router();
  routes.get('/audit', async (request, response) => {
    requireAccess('audit.read', signedInOf(response));
    const { before } = parse(page, request.query);
    response.json((await hideDeleted(users, await audit.list(before))) satisfies AuditEntry[]);
  });
  routes.get('/settings', async (_, response) => {
    requireAccess('settings.manage', signedInOf(response));
    response.json((await settings.read()) satisfies Settings);
  });
  routes.patch('/settings', async (request, response) => {
    const person = signedInOf(response);
    requireAccess('settings.manage', person);
    const wanted = parse(change, request.body);
    const before = await settings.read();
    await settings.change(wanted);
    await record(parts, person, { action: 'settings.change', target: null, details: { before, after: wanted } });
    response.json((await settings.read()) satisfies Settings);
  });
  return routes;
}
