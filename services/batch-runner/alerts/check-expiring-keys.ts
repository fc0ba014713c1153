import type { AlertStates } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import { isUsable, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { findBeginning, toPeriodName } from '#shared/accounts/periods.ts';
import type { WebhookEvent } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import { toWebhookOwner } from './list-budget-parties.ts';

const dayMs = 24 * 3_600_000;

/** Days before its expiry at which a key is reported. 0 stands for the expiry itself. */
const reportDays = [7, 1, 0] as const;
type ReportDay = (typeof reportDays)[number];

/** Milliseconds after its expiry until which a key is still reported, in case no runner has checked earlier. */
const lateMs = dayMs;

/** Milliseconds for which reports stay stored, counted from the end of the day on which the key expires. */
const reportKeptMs = 3 * dayMs;

/**
 * Reports keys seven days before they expire, one day before, and when they have expired. Each of these reports is made once per expiry
 * time. A report that would be due before the key was created is left out: a key with a life of three days is reported one day before it
 * expires and when it has expired, and a key with a life of less than a day is not reported. Replaced keys are not reported either.
 * @throws RouterError `store_unavailable`
 */
export async function checkExpiringKeys(
  { keys, states }: { keys: Pick<KeyStore, 'listExpiring'>; states: AlertStates },
  now = Date.now(),
): Promise<void> {
  const reportedByKind = new Map<string, Map<string, string>>();
  for (const key of await keys.listExpiring(now - lateMs, now + 7 * dayMs)) {
    const { id, createdAt, expiresAt, replacedBy } = key;
    // The owner has already replaced the key, so the expiry needs no report.
    if (expiresAt === undefined || replacedBy !== undefined) continue;
    if (!isUsable(key, Math.min(now, expiresAt - 1))) continue;
    const daysBefore = reportDays.findLast((days) => now >= expiresAt - days * dayMs);
    // The report of the expiry itself counts as due a day before it, so that keys with a life of less than a day are not reported.
    if (daysBefore === undefined || createdAt >= expiresAt - Math.max(1, daysBefore) * dayMs) continue;
    const day = findBeginning('day', expiresAt);
    const kind = `keys:${toPeriodName('day', day)}`;
    const reportedFields = reportedByKind.get(kind) ?? (await states.readAll(kind));
    reportedByKind.set(kind, reportedFields);
    const field = `${id} ${expiresAt} ${daysBefore}`;
    if (reportedFields.has(field)) continue;
    const event = createKeyEvent(key, expiresAt, daysBefore);
    await states.change({ kind, field, to: String(now), expiresAt: day + dayMs + reportKeptMs, event });
  }
}

function createKeyEvent(key: FoundKey, expiresAt: number, daysBefore: ReportDay): WebhookEvent {
  const { id, kind, name, ownerId } = key;
  const owner = toWebhookOwner(key);
  const data = {
    id,
    kind,
    name,
    ...(ownerId !== undefined && { owner_id: ownerId }),
    expires_at: Math.floor(expiresAt / 1000),
  };
  return {
    id: createEventId(),
    owners: owner === 'router' ? ['router'] : [owner, 'router'],
    ...(daysBefore === 0
      ? { type: 'rtr.key.expired', data }
      : { type: 'rtr.key.expiring', data: { ...data, days: daysBefore } }),
  };
}
