import { createTransport } from 'nodemailer';
import { z } from 'zod';
import type { MailSender, SmtpServer } from './mail-settings.ts';

/** Milliseconds for each of these steps: the name lookup, the connection, and the greeting. */
const stepMs = 10_000;
/** Milliseconds for which the server may be silent after its greeting. */
const silenceMs = 20_000;

/** A mail in plain text to one recipient. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** Message-ID without its angle brackets. It is the same for all tries. */
  messageId: string;
}

/** Thrown if a mail was not sent. The message of this error contains no address and no text from the server. */
export class MailError extends Error {
  override name = 'MailError';
  /** Whether the server refuses the recipient or the mail permanently. */
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

/**
 * Sends a mail.
 * @throws MailError, even when the signal aborts
 */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<void>;

/** The fields that are read from the library's errors. */
const failureSchema = z.object({
  code: z.string().catch('no code'),
  command: z.string().optional().catch(undefined),
  responseCode: z.number().optional().catch(undefined),
  permanent: z.boolean().optional().catch(undefined),
});

/**
 * Creates the function that sends mails, each over a connection of its own.
 * @param ca certificates in PEM that may sign the server's certificate, in place of the public certificate authorities
 */
export function createMailSender(server: SmtpServer, from: MailSender, ca?: string): SendMail {
  const transport = createTransport({
    ...server,
    dnsTimeout: stepMs,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(ca !== undefined && { tls: { ca } }),
  });
  return async ({ to, subject, text, messageId }, signal) => {
    try {
      await transport.sendMail({
        from,
        // The recipient is an object, so that a text is not parsed as several addresses.
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${messageId}>`,
        // Asks for no automatic replies (RFC 3834).
        headers: { 'auto-submitted': 'auto-generated' },
        signal,
      });
    } catch (error) {
      throw toMailError(error);
    }
  };
}

function toMailError(error: unknown): MailError {
  const { data: { code, command, responseCode, permanent } = { code: 'no code' } } = failureSchema.safeParse(error);
  const parts = [
    code,
    ...(command === undefined ? [] : [`at ${command}`]),
    ...(responseCode === undefined ? [] : [responseCode]),
  ];
  // A refused login or sender is not permanent, because the operator can fix it within the day for which a mail is tried.
  const isFaultOfMail = code === 'EMESSAGE' || (code === 'EENVELOPE' && command !== 'MAIL FROM');
  return new MailError(
    `the mail could not be given to the mail server: ${parts.join(' ')}`,
    permanent === true && isFaultOfMail,
  );
}
