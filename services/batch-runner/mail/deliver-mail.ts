import type { RunningMail } from '#shared/accounts/webhooks/alert-mails/alert-mails.ts';
import { createDeliverer, type DeliverDue, type DelivererOptions, type TryResult } from '../deliver-due.ts';
import { MailError, type Mail, type SendMail } from './send-mail.ts';

/** Milliseconds after which a try is ended. It is less than the lease of a try (see `AlertMails`). */
const tryMs = 40_000;

export interface MailDelivererParts extends Pick<DelivererOptions<RunningMail>, 'count' | 'log'> {
  mails: DelivererOptions<RunningMail>['messages'];
  compose: (mail: RunningMail) => Mail;
  send: SendMail;
}

/**
 * Creates the function that tries to send mails. A mail that the server does not accept is tried again, unless the server refuses the
 * recipient or the mail permanently. A mail that arrives twice has the same Message-ID.
 */
export function createMailDeliverer({ mails, compose, send, ...options }: MailDelivererParts): DeliverDue {
  return createDeliverer({ ...options, messages: mails, noun: 'an alert by e-mail', send: sendOnce });

  async function sendOnce(mail: RunningMail, signal: AbortSignal): Promise<TryResult> {
    try {
      await send(compose(mail), AbortSignal.any([signal, AbortSignal.timeout(tryMs)]));
      return {};
    } catch (error) {
      if (signal.aborted || !(error instanceof MailError)) throw error;
      return { error: error.message, isPermanent: error.isPermanent };
    }
  }
}
