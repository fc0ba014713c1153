import { z } from 'zod';

export interface SmtpServer {
  host: string;
  port: number;
  /** Whether the connection starts with TLS. */
  secure: boolean;
  /** Whether a connection without TLS must be upgraded before use. */
  requireTLS: boolean;
  /** Whether the connection is never upgraded. */
  ignoreTLS: boolean;
  auth?: { user: string; pass: string };
}

export interface MailSender {
  name: string;
  address: string;
}

/** Default ports of the URL schemes. */
const ports = { 'smtp:': 587, 'smtps:': 465 } as const;

/** Host names of this machine. Other machines cannot read the traffic to them. */
const loopbackPattern = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/**
 * Parses the URL of a mail server. `smtps://user:password@host` uses TLS from the first byte. `smtp://` uses STARTTLS, which the server
 * must offer. A connection without TLS needs `?tls=none` or a host on this machine.
 * @returns undefined for any other text
 */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')) return undefined;
  const options = [...url.searchParams];
  const hasTlsNone = options.length === 1 && options[0]?.join('=') === 'tls=none';
  const isSecure = url.protocol === 'smtps:';
  const hasPathOrHash = (url.pathname !== '' && url.pathname !== '/') || url.hash !== '';
  if (url.hostname === '' || hasPathOrHash || (options.length > 0 && (!hasTlsNone || isSecure))) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isUnencrypted = !isSecure && (hasTlsNone || loopbackPattern.test(host));
  const [user, pass] = [decodePart(url.username), decodePart(url.password)];
  if (user === undefined || pass === undefined) return undefined;
  return {
    host,
    port: url.port === '' ? ports[url.protocol] : Number(url.port),
    secure: isSecure,
    requireTLS: !isSecure && !isUnencrypted,
    ignoreTLS: isUnencrypted,
    ...(user !== '' && { auth: { user, pass } }),
  };
}

function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Parses a sender such as `Model Router <router@example.com>` or `router@example.com`; returns undefined for any other text. */
export function parseSender(text: string): MailSender | undefined {
  const [, name = '', inBrackets, bare] =
    /^(?:([^<>"\p{C}\p{Zl}\p{Zp}]{0,100}?) ?<([^<>]+)>|([^<>]+))$/u.exec(text.trim()) ?? [];
  const { data: address } = z
    .email()
    .max(254)
    .safeParse(inBrackets ?? bare);
  return address === undefined ? undefined : { name, address };
}

export const mailSettings = {
  SMTP_URL: z
    .string()
    .transform((text, context): SmtpServer => {
      const server = parseSmtpUrl(text);
      if (server) return server;
      context.addIssue('must be such as smtps://user:password@smtp.example.com or smtp://user:password@host:587');
      return z.NEVER;
    })
    .optional()
    .describe(
      'Mail server for alerts: `smtps://user:password@host`, or `smtp://user:password@host` for a server that offers STARTTLS; a connection without TLS needs `?tls=none` or a server on this machine; no mails are sent if unset',
    ),
  MAIL_FROM: z
    .string()
    .transform((text, context): MailSender => {
      const sender = parseSender(text);
      if (sender) return sender;
      context.addIssue('must be such as router@example.com or Model Router <router@example.com>');
      return z.NEVER;
    })
    .optional()
    .describe('Sender of alerts by e-mail, as `Model Router <router@example.com>`; needed with `SMTP_URL`'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe('Address at which people reach the router, for links in e-mails; e-mails have no links if unset'),
};
