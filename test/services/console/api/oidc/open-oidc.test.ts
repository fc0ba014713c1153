import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request } from 'express';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { signInSchema } from '#shared/registry/sign-in.ts';
import { openOidc } from '#services/console/api/oidc/open-oidc.ts';
import { openExternals } from '../../../../helpers/accounts/open-externals.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

it('a sign-out waits for a provider that does not answer for no more than some seconds', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openKeyStore();
  const { signOutPage } = openOidc({
    accounts: store.accounts,
    externals: openExternals(store, []),
    settings: () => signInSchema.parse({ providers: [{ name: 'away', issuer, client_id: 'router', domains: ['*'] }] }),
    onChange: () => undefined,
    secrets: () => [],
    environment: {},
    announce: () => Promise.resolve(),
    publicUrl: 'https://router.example.com',
    log: silentLog,
  });
  const [asked, startedAt] = [once(server, 'request'), performance.now()];
  expect(await signOutPage({} as Request, 'away')).toBeUndefined();
  await asked;
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

it('a provider without its secret is named in the log when the registry is loaded, and after each change of the registry', async () => {
  const store = await openKeyStore();
  const company = { issuer: 'https://id.example.com', client_id: 'router', domains: ['*'] };
  const named = (name: string) => ({ ...company, name, client_secret_env: name.toUpperCase() });
  const providers = [{ ...company, name: 'public' }, ...['set', 'unset', 'empty'].map(named)];
  let settings = signInSchema.parse({ providers });
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn', base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) });
  const listeners: (() => void)[] = [];
  openOidc({
    accounts: store.accounts,
    externals: openExternals(store, []),
    settings: () => settings,
    onChange: (listener) => void listeners.push(listener),
    secrets: () => [],
    environment: { SET: 'a secret', EMPTY: '' },
    announce: () => Promise.resolve(),
    publicUrl: undefined,
    log,
  });
  const msg = 'nobody can sign in at a provider: the variable of client_secret_env is not set';
  const unset = { level: 40, provider: 'unset', variable: 'UNSET', msg };
  expect(lines).toEqual([unset, { level: 40, provider: 'empty', variable: 'EMPTY', msg }]);
  lines.length = 0;
  settings = signInSchema.parse({ providers: [named('unset')] });
  for (const listener of listeners) listener();
  expect(lines).toEqual([unset]);
});
