import type { AlertMails, DueMail, RunningMail } from '#shared/accounts/alert-mails/alert-mails.ts';
import { computeRetryDelay } from '#shared/accounts/webhooks/compute-retry-delay.ts';
import type { Logger } from '#shared/core/log.ts';
import { MailError, type Mail, type SendMail } from './send-mail.ts';

/** Outcomes of a try to send a mail: `dead` if the mail is given up, `returned` if this process stopped before the end of the try. */
export const mailOutcomes = ['sent', 'failed', 'dead', 'returned'] as const;
export type MailOutcome = (typeof mailOutcomes)[number];

/** Milliseconds after which a try is ended. */
const tryMs = 40_000;
/** Milliseconds after which a try without an end counts as lost, because its process has died. */
const leaseMs = 50_000;

/** Milliseconds after which a returned mail is due again. By then, the job that has returned the mail must be over. */
const returnedMs = 1_000;

export interface MailDelivererParts {
  mails: Pick<AlertMails, 'beginTry' | 'end'>;
  compose: (mail: RunningMail) => Mail;
  send: SendMail;
  count: (outcome: MailOutcome) => void;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Tries to send a mail once. Returns the mail to the queue when the signal aborts. */
export type DeliverMail = (due: DueMail, signal: AbortSignal) => Promise<void>;

/**
 * Creates the function that tries to send mails. A mail that the server does not accept is tried again for a day, like webhooks (see
 * `computeRetryDelay`), unless the server refuses the recipient or the mail permanently. If a process dies during a try, the recipient may
 * get the mail twice, with the same Message-ID. If the function rejects with `store_unavailable`, the mail becomes due again by itself.
 */
export function createMailDeliverer({ mails, compose, send, count, log }: MailDelivererParts): DeliverMail {
  return async function deliverMail(due, signal) {
    const running = await mails.beginTry(due, leaseMs);
    if (!running) return;
    const startedAt = performance.now();
    const failure = await sendOnce(running, signal);
    const { event, type, attempts, elapsedMs } = running;
    const facts = { id: due.id, event, type, error: failure instanceof MailError ? failure.message : undefined };
    if (failure === 'given back') {
      if (await mails.end(due, { delayMs: returnedMs, counts: false })) count('returned');
      return;
    }
    const elapsed = elapsedMs + performance.now() - startedAt;
    const delayMs =
      failure && !failure.isPermanent ? computeRetryDelay({ attempts: attempts + 1, elapsedMs: elapsed }) : undefined;
    if (!(await mails.end(due, { delayMs, counts: true }))) return;
    if (!failure) return count('sent');
    count(delayMs === undefined ? 'dead' : 'failed');
    if (delayMs === undefined) log.warn(facts, 'an alert by e-mail was given up');
    else log.info(facts, 'an alert by e-mail will be tried again');
  };

  async function sendOnce(mail: RunningMail, signal: AbortSignal): Promise<MailError | 'given back' | undefined> {
    try {
      await send(compose(mail), AbortSignal.any([signal, AbortSignal.timeout(tryMs)]));
      return undefined;
    } catch (error) {
      if (signal.aborted) return 'given back';
      if (error instanceof MailError) return error;
      throw error;
    }
  }
}
