import { AlertMails } from '#shared/accounts/webhooks/alert-mails/alert-mails.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import type { RunnerContext } from '../context.ts';
import { startRelayedWorker } from '../start-relayed-worker.ts';
import { composeMail } from './compose-mail.ts';
import { createMailDeliverer } from './deliver-mail.ts';
import { registerTryMetrics } from '../try-metrics.ts';
import { createMailSender } from './send-mail.ts';

/** Largest number of mails that one runner sends at a time. */
const concurrency = 4;

/**
 * Starts to send alerts by e-mail, together with all other runners. Does nothing if no mail server is set.
 * @throws ConfigError if a mail server is set, but no sender
 */
export function startMails(context: RunnerContext): void {
  const { config, prefix, serving, metricsRegistry, log } = context;
  const { SMTP_URL: server, MAIL_FROM: from, PUBLIC_URL: publicUrl } = config;
  if (!server) return;
  if (!from) throw new ConfigError('SMTP_URL needs MAIL_FROM, the sender of alerts by e-mail');
  const mails = new AlertMails(serving.redis.redis, prefix, serving.reportUnreadable);
  const deliver = createMailDeliverer({
    mails,
    compose: (mail) => composeMail(mail, { from, publicUrl }),
    send: createMailSender(server, from),
    count: registerTryMetrics(metricsRegistry, 'mails', () => mails.count()),
    log,
  });
  startRelayedWorker(context, {
    queue: 'alert-mails',
    messageKind: 'alerts by e-mail',
    messages: mails,
    deliver,
    concurrency,
  });
}
