import { isMailedEventType } from '#shared/accounts/webhooks/alert-mails/alert-mail.ts';
import type { RunningMail } from '#shared/accounts/webhooks/alert-mails/alert-mails.ts';
import { composeAlertText, type AlertText } from './compose-alert-text.ts';
import type { MailSender } from './mail-settings.ts';
import { formatInstant, toOneLine } from './mail-formats.ts';
import type { Mail } from './send-mail.ts';

/**
 * Number of hexadecimal digits of the mail's id in its Message-ID. The digits only have to distinguish the recipients of one event, so 16
 * are enough.
 */
const idDigits = 16;

export interface MailFacts {
  from: Pick<MailSender, 'address'>;
  /** URL at which people reach the router; if undefined, mails have no links. */
  publicUrl: string | undefined;
}

/**
 * Composes an alert as a mail in plain text. The Message-ID is built from the event's id and the recipient, so that a repeated mail can be
 * recognised.
 */
export function composeMail(mail: RunningMail, { from, publicUrl }: MailFacts): Mail {
  const { id, event, to, address, createdAt, pausedUntil, pausedSource } = mail;
  const { subject, paragraphs, page } = findText(mail);
  const createLink = (path: string): string | undefined =>
    publicUrl === undefined ? undefined : new URL(`/${path}`, publicUrl).href;
  const [link, account] = [createLink(page), createLink('account')];
  const footer = to.startsWith('user:')
    ? `You can switch alerts by e-mail off in the console, under Account${account === undefined ? '.' : `: ${account}`}`
    : 'Administrators of the router have these alerts sent to this address.';
  const pause =
    pausedUntil === undefined
      ? []
      : [
          `This is the last alert by e-mail ${pausedSource === undefined ? '' : `about ${toOneLine(pausedSource)} `}to you until ${formatInstant(pausedUntil)}: there were many within an hour.`,
        ];
  const parts = [
    ...paragraphs,
    ...(link === undefined ? [] : [link]),
    ...pause,
    `Noticed on ${formatInstant(createdAt)}.`,
  ];
  return {
    to: address,
    subject: toOneLine(`Model Router: ${subject}`),
    text: `${[...parts, `-- \n${footer}`].join('\n\n')}\n`,
    messageId: `${event}.${id.slice(0, idDigits)}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`,
  };
}

/**
 * Returns the text of a mail. During an update, another release may have created the mail, with a type or a form of data that this release
 * does not support. The text then consists of the type and the unparsed data.
 */
function findText({ type, data }: Pick<RunningMail, 'type' | 'data'>): AlertText {
  try {
    if (isMailedEventType(type)) return composeAlertText(type, JSON.parse(data));
  } catch {
    // The data has an unexpected form.
  }
  return { subject: toOneLine(type), paragraphs: [toOneLine(data)], page: '' };
}
