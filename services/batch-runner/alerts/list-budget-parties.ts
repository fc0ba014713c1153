import type { Accounts } from '#shared/accounts/accounts.ts';
import { findLiveKeysByParty, type KeyRecord } from '#shared/accounts/keys/key-record.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { TotalsUnit } from '#shared/accounts/periods.ts';
import { toServiceParty, listServiceAccounts } from '#shared/accounts/sign-in/token-issuers/service-identity.ts';
import type { AcceptedIssuer } from '#shared/accounts/sign-in/token-issuers/token-issuer.ts';
import type { WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';

/** Names of the limits that are budgets, and the period of each budget. */
export const budgetPeriods = {
  tokensPerDay: 'day',
  tokensPerMonth: 'month',
  costPerDay: 'day',
  costPerMonth: 'month',
} as const satisfies Partial<Record<keyof PartyLimits['limits'], TotalsUnit>>;

export type BudgetName = keyof typeof budgetPeriods;
export const budgetNames = Object.keys(budgetPeriods) as readonly BudgetName[];

export interface BudgetSources {
  accounts: Pick<Accounts, 'keys' | 'users' | 'teams'>;
  /** Returns the issuers of the current registry, which contains the budgets of service accounts. */
  issuers: () => readonly Pick<AcceptedIssuer, 'rules'>[];
}

export interface BudgetParty extends PartyLimits {
  name: string;
  owner: WebhookOwner;
}

/**
 * Returns all parties that have a budget: keys that are usable at `now`, service accounts, people who are not blocked, and teams.
 * @param now in ms since 1970
 * @throws RouterError `store_unavailable`
 */
export async function listBudgetParties(
  { accounts: { keys, users, teams }, issuers }: BudgetSources,
  now: number,
): Promise<BudgetParty[]> {
  const services = new Map(listServiceAccounts(issuers()).map((account) => [account.name, account]));
  const [allKeys, people, allTeams] = await Promise.all([keys.list(), users.list(), teams.list()]);
  return [
    ...[...findLiveKeysByParty(allKeys, now)].map(([party, { limits = {}, ...key }]) => {
      return { party, name: key.name, limits, owner: toWebhookOwner(key) };
    }),
    ...[...services.values()].map(({ name, limits }) => {
      return { party: toServiceParty(name), name, limits, owner: 'router' as const };
    }),
    ...people
      .filter(({ blockedAt }) => blockedAt === undefined)
      .map(({ id, name, limits = {} }) => ({
        party: `user:${id}` as const,
        name,
        limits,
        owner: `user:${id}` as const,
      })),
    ...allTeams.map(({ id, name, limits = {} }) => {
      return { party: `team:${id}` as const, name, limits, owner: `team:${id}` as const };
    }),
  ].filter(({ limits }) => budgetNames.some((name) => limits[name] !== undefined));
}

/** Returns the owner of a key: a person, a team, or the router. */
export function toWebhookOwner({ kind, ownerId }: Pick<KeyRecord, 'kind' | 'ownerId'>): WebhookOwner {
  return kind === 'router' || ownerId === undefined ? 'router' : `${kind}:${ownerId}`;
}
