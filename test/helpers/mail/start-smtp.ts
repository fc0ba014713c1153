import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

export interface ReceivedMail {
  to: string[];
  /** The mail as sent, with its header. */
  raw: string;
  /** Header fields, unfolded, by name in lower case. */
  headers: ReadonlyMap<string, string>;
  /** The decoded text. */
  text: string;
  isEncrypted: boolean;
  user: string | undefined;
}

/** Starts a real mail server on this machine, by default without TLS and without a login. */
export async function startSmtp(options: SMTPServerOptions = {}, port = 0) {
  const mails: ReceivedMail[] = [];
  const answers: (number | 'hang')[] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    disabledCommands: options.cert === undefined ? ['STARTTLS'] : [],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 's3cret/!' ? done(null, { user: username }) : done(new Error('no such user')),
    onRcptTo: (_address, _session, done) => {
      const [answer] = answers;
      if (typeof answer !== 'number') return done();
      answers.shift();
      done(answer === 250 ? undefined : Object.assign(new Error('not now'), { responseCode: answer }));
    },
    onData: (stream, session, done) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => void pieces.push(piece));
      stream.on('end', () => {
        const raw = Buffer.concat(pieces).toString();
        const to = session.envelope.rcptTo.map(({ address }) => address);
        const user = typeof session.user === 'string' ? session.user : undefined;
        mails.push({ to, raw, ...readMail(raw), isEncrypted: session.secure, user });
        if (answers[0] === 'hang') answers.shift();
        else done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  onTestFinished(close);
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    /** Its answers to the next mails: an SMTP code for the recipient, or `hang` to be silent after the mail. */
    answers,
    close,
  };
}

export type TestSmtp = Awaited<ReturnType<typeof startSmtp>>;

function readMail(raw: string): { headers: ReadonlyMap<string, string>; text: string } {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      decodeWords(line.slice(line.indexOf(':') + 1).trim()),
    ]),
  );
  const body = raw.slice(end + 4);
  const isQuoted = headers.get('content-transfer-encoding') === 'quoted-printable';
  return { headers, text: isQuoted ? decodeQuoted(body.replace(/=\r\n/g, '')) : body };
}

/** Decodes the encoded words of RFC 2047. */
function decodeWords(text: string): string {
  return text
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?utf-8\?(q|b)\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString() : decodeQuoted(word.replace(/_/g, ' ')),
    );
}

function decodeQuoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
