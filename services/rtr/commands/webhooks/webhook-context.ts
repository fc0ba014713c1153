import type { Accounts } from '#shared/accounts/accounts.ts';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import { emailSchema } from '#shared/accounts/people/user.ts';
import { skipUnreadable } from '#shared/accounts/redis/stored-records.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import type { WebhookEndpoint } from '#shared/accounts/webhooks/webhook-endpoint.ts';
import type { WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';
import { thisCommandLine } from '../this-command-line.ts';

/** What the commands for webhooks work with. */
export interface WebhookContext {
  accounts: Pick<Accounts, 'users' | 'teams' | 'audit'>;
  webhooks: Webhooks;
  /** Prints one line. */
  print: (line: string) => void;
  /** Whether to print one JSON object per line instead of sentences. */
  json: boolean;
}

/** An endpoint. @throws RouterError `not_found` */
export async function findWebhook({ webhooks }: WebhookContext, id: string): Promise<WebhookEndpoint> {
  const endpoint = isKeyId(id) ? await webhooks.endpoints.find(id) : undefined;
  if (!endpoint) throw new RouterError('not_found', `There is no webhook with the id ${id}.`);
  return endpoint;
}

/** To whom a webhook is to belong: a team by its name or id, a person by the address, else the router. @throws RouterError `not_found` */
export async function findOwner(
  { accounts: { users, teams } }: WebhookContext,
  { team, user }: { team?: string | undefined; user?: string | undefined },
): Promise<WebhookOwner> {
  if (team !== undefined && user !== undefined)
    throw new RouterError('invalid_request', 'A webhook belongs to a team or to a person, not to both.');
  if (user !== undefined) {
    const email = emailSchema.safeParse(user).data;
    const found = email === undefined ? undefined : await users.findByEmail(email);
    if (!found) throw new RouterError('not_found', 'No user has this email address.');
    return `user:${found.id}`;
  }
  if (team === undefined) return 'router';
  const found = (await teams.list()).filter(({ id, name }) => id === team || name === team);
  const [only] = found;
  if (!only) throw new RouterError('not_found', `There is no team ${team}.`);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new RouterError('invalid_request', `Several teams are called ${team}. Give the id of one: ${ids}.`);
  }
  return `team:${only.id}`;
}

/** What to call owners: a person by the address, a team as `team <name>`. Those who are gone have no name. */
export async function ownerNames(
  { users, teams }: Pick<WebhookContext['accounts'], 'users' | 'teams'>,
  owners: readonly WebhookOwner[],
): Promise<Map<WebhookOwner, string>> {
  const names = new Map<WebhookOwner, string>();
  for (const owner of new Set(owners)) {
    const [kind, id = ''] = owner.split(':');
    if (kind === 'user') {
      const user = await skipUnreadable(users.find(id));
      if (user) names.set(owner, user.email);
    } else if (kind === 'team') {
      const [team] = await teams.findAll([id]);
      if (team) names.set(owner, `team ${team.name}`);
    }
  }
  return names;
}

/** Records a change made on the command line. The trail has the host alone: the rest of an address may be a secret of its receiver. */
export async function noteWebhook(
  { accounts }: WebhookContext,
  action: string,
  { id, url }: Pick<WebhookEndpoint, 'id' | 'url'>,
  details: Record<string, unknown> = {},
): Promise<void> {
  const target = { kind: 'webhook', id, name: new URL(url).host };
  await accounts.audit.add({ actor: null, action, target, details, from: thisCommandLine() });
}
