import { describe, expect, it } from 'vitest';
import { signInSchema } from '#shared/registry/sign-in.ts';
import { ProviderClients } from '#services/console/api/oidc/provider-clients.ts';
import { serveInTest } from '../../../../helpers/servers/serve-http.ts';

/** Starts a provider whose metadata has so many bytes more than it needs. */
async function providerOf(moreBytes: number) {
  const issuer = await serveInTest((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ issuer, token_endpoint: `${issuer}/token`, more: 'x'.repeat(moreBytes) }));
  });
  const company = { name: 'company', issuer, client_id: 'router', domains: ['*'] };
  const [provider] = signInSchema.parse({ providers: [company] }).providers;
  if (!provider) throw new Error('no provider');
  return provider;
}

describe('an answer of a provider', () => {
  it('is read up to 1 MiB', async () => {
    const provider = await providerOf(1_000);
    expect((await new ProviderClients({}).of(provider)).serverMetadata().issuer).toBe(provider.issuer);
  });

  it('is not read when it is larger', async () => {
    await expect(new ProviderClients({}).of(await providerOf(2 * 1024 * 1024))).rejects.toThrow();
  });
});
