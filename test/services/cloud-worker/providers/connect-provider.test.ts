import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigError, type Environment } from '#shared/core/load-config.ts';
import { connectProvider } from '#services/cloud-worker/providers/connect-provider.ts';
import { presets, findProvider } from '#services/cloud-worker/providers/presets.ts';
import type { Provider } from '#services/cloud-worker/providers/provider.ts';
import { serveHttp } from '../../../helpers/servers/serve-http.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { useStarted } from '../../../helpers/use-started.ts';

/** Answers everything with the received request, and token requests with a token. */
const listener: RequestListener = (request, response) => {
  const isToken = request.url === '/token';
  response.writeHead(request.url === '/moved' ? 302 : 200, { 'content-type': 'application/json', location: '/else' });
  const token = { access_token: 'ya29.fresh', expires_in: 3600, token_type: 'Bearer' };
  response.end(JSON.stringify(isToken ? token : { path: request.url, headers: request.headers }));
};
const server = useStarted(() => serveHttp(listener));

interface Seen {
  path: string;
  headers: IncomingHttpHeaders;
}

async function ask(provider: Provider, environment: Environment, config: object = {}, path = '/models'): Promise<Seen> {
  const given = { PROVIDER_URL: `${server.url}/base/`, PROVIDER_KEY: undefined, PROVIDER_KEY_HEADER: undefined };
  const settings = { ...given, SLOTS: 1, ...config };
  const { status, body } = await stopAfterTest(connectProvider(provider, settings, environment)).get(path);
  expect(status).toBe(200);
  return body as Seen;
}

describe('the connections to a provider', () => {
  it.each([
    [presets.openai, { OPENAI_API_KEY: 'k1' }, { authorization: 'Bearer k1' }],
    [presets.anthropic, { ANTHROPIC_API_KEY: 'k2' }, { 'x-api-key': 'k2', 'anthropic-version': '2023-06-01' }],
    [presets.azure, { AZURE_OPENAI_API_KEY: 'k3' }, { 'api-key': 'k3' }],
    [presets['bedrock-claude'], { AWS_BEARER_TOKEN_BEDROCK: 'k4' }, { authorization: 'Bearer k4' }],
    [findProvider('custom', 'messages'), { OPENAI_API_KEY: 'not for you' }, { authorization: undefined }],
  ])('send the key the way $title expects it', async (provider, environment, headers) => {
    const seen = await ask(provider, environment);
    expect(seen.path).toBe('/base/models');
    expect({ authorization: undefined, ...seen.headers }).toMatchObject(headers);
    expect(seen.headers['user-agent']).toMatch(/^model-router\//);
  });

  it("prefer the operator's own key and header", async () => {
    const config = { PROVIDER_KEY: 'mine', PROVIDER_KEY_HEADER: 'X-Gateway-Key' };
    const { headers } = await ask(presets.openai, { OPENAI_API_KEY: 'usual' }, config);
    expect(headers['x-gateway-key']).toBe('mine');
    expect(headers.authorization).toBeUndefined();
  });

  it('do not follow redirects', async () => {
    const moved = ask(presets.openai, { OPENAI_API_KEY: 'k' }, { PROVIDER_URL: server.url }, '/moved');
    await expect(moved).rejects.toThrow('302');
  });

  it.each<[Provider, Environment, string]>([
    [presets.gemini, {}, 'There is no key for Google Gemini: set GEMINI_API_KEY or GOOGLE_API_KEY, or PROVIDER_KEY.'],
    [presets.bedrock, { AWS_BEARER_TOKEN_BEDROCK: 'k' }, 'Amazon Bedrock cannot be reached: set AWS_REGION.'],
    [findProvider('custom', 'chat'), {}, 'custom cannot be reached: set PROVIDER_URL.'],
  ])(
    'are refused with a sentence that names the missing variables: $title',
    async (provider, environment, sentence) => {
      const asking = ask(provider, environment, { PROVIDER_URL: undefined });
      await expect(asking).rejects.toThrow(new ConfigError(sentence));
    },
  );

  it('get a fresh token for Vertex AI from a credentials file', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'account.json');
    const proof = join(folder, 'proof.jwt');
    writeFileSync(proof, 'a.signed.proof');
    const account = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/own',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${server.url}/token`,
      credential_source: { file: proof },
    };
    writeFileSync(file, JSON.stringify(account));
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'p');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await ask(presets.vertex, {})).headers.authorization).toBe('Bearer ya29.fresh');
  });
});

describe("a provider's address", () => {
  const mine = 'https://mine.openai.azure.com';
  const mantle = 'https://bedrock-mantle.eu-west-1.api.aws';
  const inRegion = { AWS_REGION: 'eu-west-1' };
  const vertexIn = (location: string) => ({ GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: location });
  const vertexPath = (location: string) => `googleapis.com/v1/projects/p/locations/${location}/endpoints/openapi`;

  it.each<[Provider, Environment, string]>([
    [presets.azure, { AZURE_OPENAI_ENDPOINT: `${mine}/` }, `${mine}/openai/v1`],
    [presets.azure, { AZURE_OPENAI_ENDPOINT: `${mine}/openai/v1` }, `${mine}/openai/v1`],
    [presets.bedrock, inRegion, `${mantle}/v1`],
    [presets['bedrock-claude'], inRegion, `${mantle}/anthropic/v1`],
    [presets.vertex, vertexIn('europe-west4'), `https://europe-west4-aiplatform.${vertexPath('europe-west4')}`],
    [presets.vertex, vertexIn('global'), `https://aiplatform.${vertexPath('global')}`],
  ])('is made from the environment: $title', (provider, environment, expected) => {
    expect(provider.url(environment)).toBe(expected);
  });

  it('is https and has no slash at its end', () => {
    for (const provider of Object.values(presets)) {
      if (provider.needs.length > 0) continue;
      expect(provider.url({})).toMatch(/^https:\/\/.*[^/]$/);
    }
  });
});
