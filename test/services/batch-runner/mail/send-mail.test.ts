import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSmtpUrl, type SmtpServer } from '#services/batch-runner/mail/mail-settings.ts';
import { MailError, mailSender, type Mail } from '#services/batch-runner/mail/send-mail.ts';
import { startSmtp } from '../../../helpers/mail/start-smtp.ts';
import { makeCertificates } from '../../../helpers/servers/make-certificates.ts';
import { useFolder } from '../../../helpers/files/temporary-folder.ts';

const folder = useFolder();
const { ca, certFile, keyFile } = makeCertificates(folder);
const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };

const from = { name: 'Model Router', address: 'router@example.com' };
const content = { subject: 'A worker is lost', text: 'Grüße\n', messageId: 'evt_1.ab@example.com' };
const mail: Mail = { to: 'ada@example.com', ...content };
const never = new AbortController().signal;

function serverAt(url: string): SmtpServer {
  const server = parseSmtpUrl(url);
  if (!server) throw new Error(`no address: ${url}`);
  return server;
}

/** What sends mails to a server on this machine. @param login as an address has it */
const sendTo = (port: number, login = '') => mailSender(serverAt(`smtp://${login}127.0.0.1:${port}`), from);

/** What became of a mail: undefined for one that was sent. */
async function failureOf(sending: Promise<void>): Promise<MailError | undefined> {
  try {
    await sending;
    return undefined;
  } catch (error) {
    if (error instanceof MailError) return error;
    throw error;
  }
}

describe('a mail', () => {
  it('comes as it was written, with who sends it, and as one that nobody answers by a machine', async () => {
    const smtp = await startSmtp();
    await sendTo(smtp.port, 'bot:s3cret%2F!@')(mail, never);
    expect(smtp.mails).toMatchObject([{ text: 'Grüße\r\n', to: ['ada@example.com'], user: 'bot' }]);
    expect(Object.fromEntries(smtp.mails[0]?.headers ?? [])).toMatchObject({
      from: 'Model Router <router@example.com>',
      to: 'ada@example.com',
      subject: 'A worker is lost',
      'message-id': '<evt_1.ab@example.com>',
      'auto-submitted': 'auto-generated',
    });
  });

  it('has no header and no recipient of what stands in a name', async () => {
    const smtp = await startSmtp();
    const send = sendTo(smtp.port);
    await send({ ...mail, subject: 'x\r\nBcc: eve@example.com\r\n\r\nhello' }, never);
    await failureOf(send({ ...mail, to: 'ada@example.com>, <eve@example.com' }, never));
    await failureOf(send({ ...mail, to: 'ada@example.com\r\nRCPT TO:<eve@example.com>' }, never));
    expect(smtp.mails[0]?.headers.has('bcc')).toBe(false);
    expect(smtp.mails[0]?.text).not.toContain('hello');
    expect(smtp.mails.flatMap(({ to }) => to)).not.toContain('eve@example.com');
  });

  it('goes over TLS from the first byte or by STARTTLS, with a certificate that can be trusted', async () => {
    for (const secure of [true, false]) {
      const smtp = await startSmtp({ ...tls, secure });
      const server = { ...serverAt(`smtp${secure ? 's' : ''}://mail.example.com:${smtp.port}`), host: '127.0.0.1' };
      const untrusted = await failureOf(mailSender(server, from)(mail, never));
      expect(untrusted?.isPermanent).toBe(false);
      expect(smtp.mails).toEqual([]);
      await mailSender(server, from, ca)(mail, never);
      expect(smtp.mails.map(({ isEncrypted }) => isEncrypted)).toEqual([true]);
    }
  });

  it('and the password are not sent to a server without STARTTLS, unless its address says so', async () => {
    const smtp = await startSmtp();
    const at = (query: string) => {
      const server = serverAt(`smtp://bot:s3cret%2F!@mail.example.com:${smtp.port}${query}`);
      return mailSender({ ...server, host: '127.0.0.1' }, from);
    };
    expect((await failureOf(at('')(mail, never)))?.message).toContain('ETLS');
    expect(smtp.mails).toEqual([]);
    await at('?tls=none')(mail, never);
    expect(smtp.mails).toHaveLength(1);
  });

  it.each([
    ['a recipient whom the server does not know', 550, true],
    ['a recipient whom it takes later', 451, false],
  ])('to %s (%i) has failed for good: %s', async (_name, code, isPermanent) => {
    const smtp = await startSmtp();
    smtp.answers.push(code);
    const failure = await failureOf(sendTo(smtp.port)(mail, never));
    expect(failure?.isPermanent).toBe(isPermanent);
    expect(failure?.message).toContain(String(code));
    expect(failure?.message).not.toContain('ada');
  });

  it('is tried again when the login is refused or nobody listens', async () => {
    const smtp = await startSmtp();
    const refused = await failureOf(sendTo(smtp.port, 'bot:wrong@')(mail, never));
    expect(refused).toMatchObject({ isPermanent: false, message: expect.stringContaining('EAUTH') as string });
    await smtp.close();
    expect(await failureOf(sendTo(smtp.port)(mail, never))).toMatchObject({ isPermanent: false });
  });

  it('is left when the signal aborts, while a server says nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const startedAt = performance.now();
    await failureOf(sendTo(port)(mail, AbortSignal.timeout(200)));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
