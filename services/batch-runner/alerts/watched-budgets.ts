import type { Accounts } from '#shared/accounts/accounts.ts';
import { liveKeysByParty } from '#shared/accounts/keys/key-record.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { Step } from '#shared/accounts/periods.ts';
import type { WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';

/** The limits that are budgets, and for how long each one is. */
export const budgetSteps = {
  tokensPerDay: 'day',
  tokensPerMonth: 'month',
  costPerDay: 'day',
  costPerMonth: 'month',
} as const satisfies Partial<Record<keyof PartyLimits['limits'], Step>>;

export type BudgetName = keyof typeof budgetSteps;
export const budgetNames = Object.keys(budgetSteps) as readonly BudgetName[];

/** A key, a person or a team with budgets. */
export interface BudgetParty extends PartyLimits {
  name: string;
  /** Whose it is. */
  owner: WebhookOwner;
}

/** Every key, person and team with a budget that can be used at a time. @throws RouterError `store_unavailable` */
export async function watchedBudgets(
  { keys, users, teams }: Pick<Accounts, 'keys' | 'users' | 'teams'>,
  now: number,
): Promise<BudgetParty[]> {
  const [allKeys, people, allTeams] = await Promise.all([keys.list(), users.list(), teams.list()]);
  return [
    ...[...liveKeysByParty(allKeys, now)].map(([party, { name, kind, ownerId, limits = {} }]) => {
      const owner: WebhookOwner = kind === 'router' || ownerId === undefined ? 'router' : `${kind}:${ownerId}`;
      return { party, name, limits, owner };
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
