import type { AlertStates } from '#shared/accounts/alerts/alert-states.ts';
import type { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { toBudgetField } from '#shared/accounts/limits/refused-budgets.ts';
import { measure } from '#shared/accounts/limits/measures.ts';
import type { PartyUse } from '#shared/accounts/limits/party-use.ts';
import { findBeginning, nextBeginning, periodName } from '#shared/accounts/periods.ts';
import type { WebhookEvent } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import {
  budgetNames,
  budgetSteps,
  watchedBudgets,
  type BudgetName,
  type BudgetParty,
  type BudgetSources,
} from './watched-budgets.ts';

/** Percentages of a budget whose use is reported. */
const thresholds = [50, 80];

/**
 * Percentage from which a budget counts as exhausted, because the rest is too little for most requests. A budget counts as exhausted
 * earlier if it has refused a request that might have cost more than the rest.
 */
const exhaustedPercent = 99;

/** Milliseconds for which checks continue after the newest request, because nodes count some use only a while after a request is over. */
const lateMs = 120_000;

/** Milliseconds for which the reports about a period stay stored after its end. */
const knownMs = 24 * 3_600_000;

const zeroAmount = { tokens: 0, cost: 0 };

export interface BudgetLookParts extends BudgetSources {
  limits: Pick<LimitKeeper, 'read'> & { refusedBudgets: Pick<LimitKeeper['refusedBudgets'], 'read'> };
  usage: Pick<UsageReader, 'findNewest'>;
  states: AlertStates;
}

/**
 * Creates a check of the budgets of keys, service accounts, people and teams that reports each reached share once per day or month. A
 * changed budget counts as a new one. If several shares are reached at once, only the largest is mailed.
 * @returns the check, which does nothing while there are no new requests. It throws RouterError `store_unavailable`
 */
export function createBudgetCheck({
  accounts,
  issuers,
  limits,
  usage,
  states,
}: BudgetLookParts): (now?: number) => Promise<void> {
  let newest: { id: string | undefined; at: number } | undefined;
  return async (now = Date.now()) => {
    const refused = await limits.refusedBudgets.read(now);
    const id = `${await usage.findNewest()} ${refused.size}`;
    if (!newest || newest.id !== id) newest = { id, at: now };
    else if (now - newest.at > lateMs) return;
    const parties = await watchedBudgets({ accounts, issuers }, now);
    const uses = await limits.read(parties);
    const reported = new Map<string, Map<string, string>>();
    for (const [index, party] of parties.entries()) {
      const use = uses[index];
      if (use) for (const name of budgetNames) await lookAt(party, use, name);
    }

    async function lookAt(party: BudgetParty, use: PartyUse, name: BudgetName): Promise<void> {
      const measured = measure(name, use, zeroAmount);
      const set = use.limits[name];
      if (!measured || set === undefined) return;
      const step = budgetSteps[name];
      const period = periodName(step, findBeginning(step, use.at));
      const percent = (100 * measured.spent) / measured.limit;
      const budget = toBudgetField({ party: party.party, name, set });
      // A day may end between the two reads. The entry names its period, so that refusals of one day do not count for the next.
      const isExhausted = percent >= exhaustedPercent || refused.has(`${period} ${budget}`);
      const shares = thresholds.filter((threshold) => percent >= threshold);
      const reached = [...(isExhausted ? [exhaustedPercent] : []), ...shares.toReversed()];
      if (reached.length === 0) return;
      const kind = `budgets:${period}`;
      const known = reported.get(kind) ?? (await states.readAll(kind));
      reported.set(kind, known);
      const resetsAt = nextBeginning(step, use.at);
      for (const [index, threshold] of reached.entries()) {
        const field = `${budget} ${threshold}`;
        if (known.has(field)) continue;
        const used = measured.spent / measured.unit;
        const event = budgetEvent(party, { threshold, budget: name, limit: set, used, period, resetsAt });
        await states.change({
          kind,
          field,
          to: String(now),
          expiresAt: resetsAt + knownMs,
          event,
          isMailed: index === 0,
        });
      }
    }
  };
}

interface ReachedShare {
  threshold: number;
  budget: BudgetName;
  /** Limit as it is set, in tokens or dollars. */
  limit: number;
  /** Used part of the limit, in the same unit. */
  used: number;
  period: string;
  /** In ms since 1970. */
  resetsAt: number;
}

function budgetEvent(
  { party, name, owner }: BudgetParty,
  { threshold, budget, limit, used, period, resetsAt }: ReachedShare,
): WebhookEvent {
  // The id of a service account contains a colon itself.
  const [kind = ''] = party.split(':', 1);
  const id = party.slice(kind.length + 1);
  const of = { id, kind, name, budget, limit, used, period, resets_at: resetsAt / 1000 };
  const [type, data] =
    threshold === exhaustedPercent
      ? (['rtr.budget.exhausted', of] as const)
      : (['rtr.budget.threshold', { ...of, percent: threshold }] as const);
  return { id: createEventId(), type, owners: owner === 'router' ? ['router'] : [owner, 'router'], data };
}
