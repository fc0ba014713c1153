import type { Registry } from 'prom-client';
import type { AlertMails } from '#shared/accounts/alert-mails/alert-mails.ts';
import type { QueueWorker } from '#shared/background/background-worker.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { startRelayedWorker, type RelayedWorkerParts } from '../start-relayed-worker.ts';
import { composeMail } from './compose-mail.ts';
import { createMailDeliverer } from './deliver-mail.ts';
import { registerTryMetrics } from '../try-metrics.ts';
import type { MailSender, SmtpServer } from './mail-settings.ts';
import { createMailSender } from './send-mail.ts';

/** Largest number of mails that one runner sends at a time. */
const concurrency = 4;

export interface StartMailsParts extends RelayedWorkerParts {
  config: { SMTP_URL?: SmtpServer | undefined; MAIL_FROM?: MailSender | undefined; PUBLIC_URL?: string | undefined };
  mails: AlertMails;
  registry: Registry;
}

/**
 * Starts to send alerts by e-mail, together with all other runners.
 * @returns the worker of the queue, which the caller closes together with the workers of other queues; undefined if no mail server is set
 * @throws ConfigError if a mail server is set, but no sender
 */
export function startMails(parts: StartMailsParts): QueueWorker | undefined {
  const { config, mails, registry, log } = parts;
  const { SMTP_URL: server, MAIL_FROM: from, PUBLIC_URL: publicUrl } = config;
  if (!server) return undefined;
  if (!from) throw new ConfigError('SMTP_URL needs MAIL_FROM, the sender of alerts by e-mail');
  const deliver = createMailDeliverer({
    mails,
    compose: (mail) => composeMail(mail, { from, publicUrl }),
    send: createMailSender(server, from),
    count: registerTryMetrics(registry, 'mails', () => mails.count()),
    log,
  });
  return startRelayedWorker(parts, {
    queue: 'alert-mails',
    messageKind: 'alerts by e-mail',
    messages: mails,
    deliver,
    concurrency,
  });
}
