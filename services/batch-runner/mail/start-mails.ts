import type { Registry } from 'prom-client';
import type { AlertMails, DueMail } from '#shared/accounts/alert-mails/alert-mails.ts';
import type { BackgroundAccess } from '#shared/background/background-access.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker, type QueueWorker } from '#shared/background/background-worker.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import { relayDue } from '../relay-due.ts';
import { composeMail } from './compose-mail.ts';
import { createMailDeliverer } from './deliver-mail.ts';
import { registerMailMetrics } from './mail-metrics.ts';
import type { MailSender, SmtpServer } from './mail-settings.ts';
import { createMailSender } from './send-mail.ts';

/** When the runner ends, running tries get this many milliseconds to finish. Unfinished mails are returned to the queue. */
const finishMs = 5_000;

/** Largest number of mails that one runner sends at a time. */
const concurrency = 4;

export interface StartMailsParts {
  config: { SMTP_URL?: SmtpServer | undefined; MAIL_FROM?: MailSender | undefined; PUBLIC_URL?: string | undefined };
  mails: AlertMails;
  access: BackgroundAccess;
  jobs: Pick<BackgroundJobs, 'add'>;
  registry: Registry;
  log: Logger;
  releases: Releases;
}

/**
 * Starts to send alerts by e-mail, together with all other runners.
 * @returns the worker of the queue, which the caller closes together with the workers of other queues; undefined if no mail server is set
 * @throws ConfigError if a mail server is set, but no sender
 */
export function startMails({
  config,
  mails,
  access,
  jobs,
  registry,
  log,
  releases,
}: StartMailsParts): QueueWorker | undefined {
  const { SMTP_URL: server, MAIL_FROM: from, PUBLIC_URL: publicUrl } = config;
  if (!server) return undefined;
  if (!from) throw new ConfigError('SMTP_URL needs MAIL_FROM, the sender of alerts by e-mail');
  const [stopRelay, stopMails] = [new AbortController(), new AbortController()];
  const deliver = createMailDeliverer({
    mails,
    compose: (mail) => composeMail(mail, { from, publicUrl }),
    send: createMailSender(server, from),
    count: registerMailMetrics(registry, () => mails.count()),
    log,
  });
  const takeDue = mails.takeDue.bind(mails);
  const enqueue = (due: DueMail): Promise<void> =>
    jobs.add({ queue: 'alert-mails', id: `${due.id}-${due.attempts}`, data: due });
  const relaying = relayDue({ messageKind: 'alerts by e-mail', takeDue, enqueue, log }, stopRelay.signal);
  releases.add('alert mails', async () => {
    stopRelay.abort();
    await relaying;
    setTimeout(() => stopMails.abort(), finishMs).unref();
  });
  return new BackgroundWorker<DueMail>({
    access,
    queue: 'alert-mails',
    concurrency,
    handle: (due) => deliver(due, stopMails.signal),
  });
}
