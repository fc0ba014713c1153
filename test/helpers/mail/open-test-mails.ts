import { inject } from 'vitest';
import { pino } from 'pino';
import { AlertMails } from '#shared/accounts/webhooks/alert-mails/alert-mails.ts';
import { AlertStates } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import type { WebhookEvent, WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import { composeMail } from '#services/batch-runner/mail/compose-mail.ts';
import type { TryOutcome } from '#services/batch-runner/deliver-due.ts';
import { createMailDeliverer } from '#services/batch-runner/mail/deliver-mail.ts';
import { parseSmtpUrl } from '#services/batch-runner/mail/mail-settings.ts';
import { createMailSender } from '#services/batch-runner/mail/send-mail.ts';
import { openKeyStore } from '../accounts/open-key-store.ts';
import { startSmtp } from './start-smtp.ts';

export async function openTestMails(isMailed = true) {
  const smtp = await startSmtp();
  const open = await openKeyStore(inject('redisUrl'));
  const { connection, prefix, unreadable } = open;
  const { redis } = connection;
  const states = new AlertStates(redis, prefix, isMailed);
  const mails = new AlertMails(redis, prefix, (record, reason) => void unreadable.push(`${record}: ${reason}`));
  const server = parseSmtpUrl(`smtp://127.0.0.1:${smtp.port}`);
  if (!server) throw new Error('no address');
  const from = { name: '', address: 'router@example.com' };
  const outcomes: TryOutcome[] = [];
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(line) });
  const deliver = createMailDeliverer({
    mails,
    compose: (mail) => composeMail(mail, { from, publicUrl: undefined }),
    send: createMailSender(server, from),
    count: (outcome) => outcomes.push(outcome),
    log,
  });
  let names = 0;
  return {
    ...open,
    /** The server that receives the mails. */
    smtp,
    mails,
    states,
    /** Reports an event for these owners, once for each name. */
    report: (given: Partial<Pick<WebhookEvent, 'type' | 'owners' | 'data'>> = {}, name = `thing ${names++}`) => {
      const data = { id: 'box.w1', tier: 'gpu' };
      const event: WebhookEvent = { id: createEventId(), type: 'rtr.worker.lost', owners: ['router'], data, ...given };
      return states.change({ kind: 'tests', field: name, to: 'reported', event });
    },
    addPerson: async (
      name: string,
      more: { role?: 'admin'; blockedAt?: string; limits?: string } = {},
    ): Promise<WebhookOwner> => {
      const fields = { id: name, name, email: `${name}@example.com`, role: 'member', ...more };
      await redis.hset(`${prefix}user:${name}`, fields);
      if (fields.role === 'admin') await redis.sadd(`${prefix}admins`, name);
      return `user:${name}`;
    },
    deliver,
    outcomes,
    logged,
    /** Tries everything that is due, and returns the outcomes. */
    deliverDue: async () => {
      const before = outcomes.length;
      for (;;) {
        const due = await mails.takeDue(1_000);
        if (due.length === 0) return outcomes.slice(before);
        await Promise.all(due.map((each) => deliver(each, new AbortController().signal)));
      }
    },
    /** Makes every mail due now, including mails in progress: as if their runner was lost. */
    makeDue: async () => {
      for (const id of await redis.zrange(`${prefix}alert-mails-due`, '0', '-1')) {
        await redis.zadd(`${prefix}alert-mails-due`, 1, id);
        await redis.hdel(`${prefix}alert-mail:${id}`, 'runningUntil', 'takenUntil');
      }
    },
  };
}
