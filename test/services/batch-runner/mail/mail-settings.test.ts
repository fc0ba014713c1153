import { describe, expect, it } from 'vitest';
import { parseSender, parseSmtpUrl } from '#services/batch-runner/mail/mail-settings.ts';

it('the address of a mail server requires TLS, unless it opts out or is on this machine', () => {
  const open = { secure: false, requireTLS: false, ignoreTLS: true };
  const starttls = { secure: false, requireTLS: true, ignoreTLS: false };
  const secure = { secure: true, requireTLS: false, ignoreTLS: false };
  const host = 'mail.example.com';
  const auth = { user: 'a@b.com', pass: 'p/w' };
  expect(parseSmtpUrl(`smtps://a%40b.com:p%2Fw@${host}`)).toEqual({ host, port: 465, ...secure, auth });
  expect(parseSmtpUrl(`smtp://${host}`)).toEqual({ host, port: 587, ...starttls });
  expect(parseSmtpUrl('smtp://10.0.0.7:25/?tls=none')).toEqual({ host: '10.0.0.7', port: 25, ...open });
  for (const [written, own] of Object.entries({ localhost: 'localhost', '127.0.0.9': '127.0.0.9', '[::1]': '::1' }))
    expect(parseSmtpUrl(`smtp://${written}:2525`)).toEqual({ host: own, port: 2525, ...open });
  expect(parseSmtpUrl('smtp://127.0.0.1.example.com')).toMatchObject(starttls);
});

it.each([
  'mail.example.com',
  'https://mail.example.com',
  'smtp://',
  'smtp://mail.example.com/inbox',
  'smtp://mail.example.com?tls=maybe',
  'smtp://mail.example.com?tls=none&tls=none',
  'smtp://mail.example.com?ignoreTLS=true',
  'smtps://mail.example.com?tls=none',
  'smtp://%zz:x@mail.example.com',
])('the address of a mail server is refused as %s', (text) => {
  expect(parseSmtpUrl(text)).toBeUndefined();
});

describe('the sender', () => {
  it('is an address, with a name or without', () => {
    expect(parseSender('router@example.com')).toEqual({ name: '', address: 'router@example.com' });
    const named = { name: 'Model Router', address: 'router@example.com' };
    expect(parseSender('Model Router <router@example.com>')).toEqual(named);
  });

  it.each(['router', 'a@b.com, c@d.com', 'Name <a@b.com> <c@d.com>', 'Bad\nBcc: x <a@b.com>', '<>'])(
    'is refused as %j',
    (text) => {
      expect(parseSender(text)).toBeUndefined();
    },
  );
});
