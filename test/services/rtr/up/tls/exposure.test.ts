import { expect, it } from 'vitest';
import { describeExposure, exposeHost } from '#services/rtr/up/tls/exposure.ts';

it.each([
  ['127.0.0.1', '0.0.0.0'],
  ['localhost', '0.0.0.0'],
  ['::1', '0.0.0.0'],
  ['0.0.0.0', '0.0.0.0'],
  ['::', '::'],
  ['192.0.2.7', '192.0.2.7'],
])('an exposed router whose HOST is %s listens on %s', (HOST, expected) => {
  expect(exposeHost({ HOST, PORT: 8484 })).toEqual({ HOST: expected, PORT: 8484 });
});

it.each([
  [{ HOST: '0.0.0.0' }, ['192.0.2.7', '198.51.100.1'], 'https://192.0.2.7:8484:'],
  [{ HOST: '2001:db8::1' }, ['192.0.2.7'], 'https://[2001:db8::1]:8484:'],
  [{ HOST: '::', PUBLIC_URL: 'https://router.example.com' }, [], 'https://router.example.com:'],
  [{ HOST: '0.0.0.0' }, [], 'https://<address of this machine>:8484:'],
])(
  'an exposed router with %j on a machine with %j says where it is reachable, and by whom',
  (listening, addresses, url) => {
    const text = describeExposure({ PORT: 8484, ...listening }, true, addresses);
    expect(text).toContain(`at ${url} clients with a key, people with an account, and boxes with an invitation.`);
    expect(text).toContain('Its metrics, and the NATS and Redis that it runs, stay on this machine.');
    expect(text).toContain('browsers warn');
  },
);

it('an exposed router with a certificate of an authority says nothing of warnings', () => {
  expect(describeExposure({ HOST: '0.0.0.0', PORT: 8484 }, false, [])).not.toContain('browsers warn');
});
