import type { AlertStates } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import type { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { toBudgetField } from '#shared/accounts/limits/refused-budgets.ts';
import { measure } from '#shared/accounts/limits/measures.ts';
import type { PartyUse } from '#shared/accounts/limits/party-use.ts';
import { findBeginning, findNextBeginning, toPeriodName } from '#shared/accounts/periods.ts';
import type { WebhookEvent } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import {
  budgetNames,
  budgetPeriods,
  listBudgetParties,
  type BudgetName,
  type BudgetParty,
  type BudgetSources,
} from './list-budget-parties.ts';

/** Percentages of use at which a budget is reported. */
const thresholds = [50, 80];

/**
 * Percentage from which a budget counts as exhausted, because the rest is too little for most requests. Below this percentage, a
 * budget counts as exhausted only if it has refused a request that might have cost more than the rest.
 */
const exhaustedPercent = 99;

/**
 * Milliseconds for which checks continue after the newest request, because nodes may count the use of a request some time after its end.
 */
const lateMs = 120_000;

/** Milliseconds for which the reports about a period stay stored after its end. */
const reportKeptMs = 24 * 3_600_000;

const zeroAmount = { tokens: 0, cost: 0 };

export interface BudgetCheckParts extends BudgetSources {
  limits: Pick<LimitKeeper, 'read'> & { refusedBudgets: Pick<LimitKeeper['refusedBudgets'], 'read'> };
  usage: Pick<UsageReader, 'findNewest'>;
  states: AlertStates;
}

/**
 * Creates the function that checks the budgets of keys, service accounts, people and teams, and reports each reached threshold once per day
 * or month. A budget that was changed counts as a new budget. If a budget reaches several thresholds at once, only the largest is mailed.
 * @returns the check, which does nothing once there has been no new request for `lateMs`. It throws RouterError `store_unavailable`
 */
export function createBudgetCheck({
  accounts,
  issuers,
  limits,
  usage,
  states,
}: BudgetCheckParts): (now?: number) => Promise<void> {
  let newestRequest: { id: string | undefined; at: number } | undefined;
  return async (now = Date.now()) => {
    const refusedBudgets = await limits.refusedBudgets.read(now);
    const id = `${await usage.findNewest()} ${refusedBudgets.size}`;
    if (!newestRequest || newestRequest.id !== id) newestRequest = { id, at: now };
    else if (now - newestRequest.at > lateMs) return;
    const parties = await listBudgetParties({ accounts, issuers }, now);
    const uses = await limits.read(parties);
    const reportedByKind = new Map<string, Map<string, string>>();
    for (const [index, party] of parties.entries()) {
      const use = uses[index];
      if (use) for (const name of budgetNames) await checkBudget(party, use, name);
    }

    async function checkBudget(party: BudgetParty, use: PartyUse, name: BudgetName): Promise<void> {
      const measured = measure(name, use, zeroAmount);
      const limit = use.limits[name];
      if (!measured || limit === undefined) return;
      const step = budgetPeriods[name];
      const period = toPeriodName(step, findBeginning(step, use.at));
      const percent = (100 * measured.spent) / measured.limit;
      const budget = toBudgetField({ party: party.party, name, set: limit });
      // A day may end between the reads of refusals and of use. Each refusal names its period, so that it does not count for the next day.
      const isExhausted = percent >= exhaustedPercent || refusedBudgets.has(`${period} ${budget}`);
      const reachedPercentages = thresholds.filter((threshold) => percent >= threshold);
      const reachedThresholds = [...(isExhausted ? [exhaustedPercent] : []), ...reachedPercentages.toReversed()];
      if (reachedThresholds.length === 0) return;
      const kind = `budgets:${period}`;
      const reportedFields = reportedByKind.get(kind) ?? (await states.readAll(kind));
      reportedByKind.set(kind, reportedFields);
      const resetsAt = findNextBeginning(step, use.at);
      for (const [index, threshold] of reachedThresholds.entries()) {
        const field = `${budget} ${threshold}`;
        if (reportedFields.has(field)) continue;
        const used = measured.spent / measured.unit;
        const event = createBudgetEvent(party, { threshold, budget: name, limit, used, period, resetsAt });
        await states.change({
          kind,
          field,
          to: String(now),
          expiresAt: resetsAt + reportKeptMs,
          event,
          isMailed: index === 0,
        });
      }
    }
  };
}

interface ReachedThreshold {
  threshold: number;
  budget: BudgetName;
  /** Limit as it is set, in tokens or dollars. */
  limit: number;
  /** Used part of the limit, in the same unit. */
  used: number;
  /** Name of the day or month. */
  period: string;
  /** In ms since 1970. */
  resetsAt: number;
}

function createBudgetEvent(
  { party, name, owner }: BudgetParty,
  { threshold, budget, limit, used, period, resetsAt }: ReachedThreshold,
): WebhookEvent {
  // The id of a service account contains a colon itself.
  const [kind = ''] = party.split(':', 1);
  const id = party.slice(kind.length + 1);
  const facts = { id, kind, name, budget, limit, used, period, resets_at: resetsAt / 1000 };
  const [type, data] =
    threshold === exhaustedPercent
      ? (['rtr.budget.exhausted', facts] as const)
      : (['rtr.budget.threshold', { ...facts, percent: threshold }] as const);
  return { id: createEventId(), type, owners: owner === 'router' ? ['router'] : [owner, 'router'], data };
}
