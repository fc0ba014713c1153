import type { AlertMails, DueMail, RunningMail } from '#shared/accounts/alert-mails/alert-mails.ts';
import { retryDelay } from '#shared/accounts/webhooks/retry-delay.ts';
import type { Logger } from '#shared/core/log.ts';
import { MailError, type Mail, type SendMail } from './send-mail.ts';

/** What came of an attempt: `dead` for one after which the mail is given up, `returned` for one that this process did not end. */
export const mailOutcomes = ['sent', 'failed', 'dead', 'returned'] as const;
export type MailOutcome = (typeof mailOutcomes)[number];

/** Milliseconds for one attempt, and until it counts as lost with its process. */
const attemptMs = 40_000;
const leaseMs = 50_000;

/** Milliseconds after which a mail that was given back is due: its job must be over by then. */
const returnedMs = 1_000;

export interface MailDelivererParts {
  mails: Pick<AlertMails, 'begin' | 'end'>;
  compose: (mail: RunningMail) => Mail;
  send: SendMail;
  /** Is called with what came of each attempt. */
  count: (outcome: MailOutcome) => void;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Tries to send a mail once. When the signal aborts, it is given back. */
export type DeliverMail = (due: DueMail, signal: AbortSignal) => Promise<void>;

/**
 * Makes the function that tries to send mails. One that the server does not take is tried again for a day, as webhooks are (see
 * `retryDelay`), unless the server refuses the recipient or the mail for good. A process that dies in between makes the recipient get the
 * mail twice, with the same Message-ID. The function rejects with `store_unavailable`: then the mail is due again by itself.
 */
export function mailDeliverer({ mails, compose, send, count, log }: MailDelivererParts): DeliverMail {
  return async function deliverMail(due, signal) {
    const running = await mails.begin(due, leaseMs);
    if (!running) return;
    const startedAt = performance.now();
    const failure = await attempt(running, signal);
    const { event, type, attempts, elapsedMs } = running;
    const facts = { id: due.id, event, type, error: failure instanceof MailError ? failure.message : undefined };
    if (failure === 'given back') {
      if (await mails.end(due, { delayMs: returnedMs, counts: false })) count('returned');
      return;
    }
    const elapsed = elapsedMs + performance.now() - startedAt;
    const delayMs =
      failure && !failure.isPermanent ? retryDelay({ attempts: attempts + 1, elapsedMs: elapsed }) : undefined;
    if (!(await mails.end(due, { delayMs, counts: true }))) return;
    if (!failure) return count('sent');
    count(delayMs === undefined ? 'dead' : 'failed');
    if (delayMs === undefined) log.warn(facts, 'an alert by e-mail was given up');
    else log.info(facts, 'an alert by e-mail will be tried again');
  };

  async function attempt(mail: RunningMail, signal: AbortSignal): Promise<MailError | 'given back' | undefined> {
    try {
      await send(compose(mail), AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]));
      return undefined;
    } catch (error) {
      if (signal.aborted) return 'given back';
      if (error instanceof MailError) return error;
      throw error;
    }
  }
}
