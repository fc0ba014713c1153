import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statusWith } from '../../helpers/clients/status-with.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { makeCertificates } from '../../helpers/servers/make-certificates.ts';
import { startTokenIssuer, type TokenIssuer } from '../../helpers/upstreams/start-token-issuer.ts';
import { until } from '../../helpers/until.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

/** The issuer of a Kubernetes cluster, whose address only the cluster reaches. */
const inCluster = 'https://kubernetes.default.svc.cluster.local';

const folder = useFolder();
let jwksFile: string;
let cluster: Cluster;
/** The API server of a Kubernetes cluster with an authority of its own, one whose keys are in a file, and a provider over HTTP. */
let kubernetes: TokenIssuer;
let inFile: TokenIssuer;
let slow: TokenIssuer;

const service = (name: string, match = '{ sub: "*" }') =>
  `rules: [{ match: ${match}, service_account: { name: ${name} } }]`;

beforeAll(async () => {
  const certificates = makeCertificates(folder);
  kubernetes = await startTokenIssuer(certificates);
  [inFile, slow] = [await startTokenIssuer(), await startTokenIssuer()];
  jwksFile = join(folder, 'jwks.json');
  writeFileSync(jwksFile, JSON.stringify(inFile.jwks()));
  const match = '{ sub: "system:serviceaccount:ml:*", kubernetes.io.namespace: ml }';
  const registry = `
token_issuers:
  - { issuer: "${inCluster}", audiences: [router], jwks_uri: "${kubernetes.issuer}/keys", ca: "${certificates.caFile}", ${service('ml', match)} }
  - { issuer: "https://in-file.example.com", audiences: [router], jwks_file: "${jwksFile}", ${service('in-file')} }
  - { issuer: "https://inline.example.com", audiences: [router], jwks: ${JSON.stringify(inFile.jwks())}, ${service('inline')} }
  - { issuer: "${slow.issuer}", audiences: [router], ${service('slow')} }
  - { issuer: "https://untrusted.example.com", audiences: [router], jwks_uri: "${kubernetes.issuer}/keys", ${service('untrusted')} }
`;
  cluster = await startCluster({ workers: 0, ingress: withRegistry(registry) });
});
afterAll(async () => {
  await cluster.stop();
  await Promise.all([kubernetes, inFile, slow].map((issuer) => issuer.close()));
});

const statusOf = (token: string): Promise<number> => statusWith(cluster.url, token);

/** The claims of a projected token of Kubernetes 1.33, but for its times. */
function projected(namespace: string): Record<string, unknown> {
  return {
    aud: ['router'],
    iss: inCluster,
    jti: '6f1a4b0e-6a3c-4c4b-8f0e-2f6f0f0c9d1a',
    'kubernetes.io': {
      namespace,
      node: { name: 'node-1', uid: '8fb86ca1-2a5c-4ea2-8a3c-1f0a4e2f3b6c' },
      pod: { name: 'trainer-7d9c5b6f4-x2k8q', uid: 'a3f0a6a4-5b7e-4d7a-9c39-0d1b6c0a9f11' },
      serviceaccount: { name: 'trainer', uid: '51d0c9de-0a4c-4f0f-b4f5-4a6ad2f4d8a7' },
    },
    nbf: Math.floor(Date.now() / 1_000),
    sub: `system:serviceaccount:${namespace}:trainer`,
  };
}

describe('a projected token of Kubernetes', () => {
  it('is accepted with the keys of its API server, whose authority the registry names', async () => {
    const token = await kubernetes.sign(projected('ml'));
    expect(await statusOf(token)).toBe(200);
    expect(await statusOf(await kubernetes.sign(projected('web')))).toBe(403);
    expect(await statusOf(await kubernetes.sign({ ...projected('ml'), aud: [inCluster] }))).toBe(401);
    expect(await statusOf(await inFile.sign(projected('ml')))).toBe(401);
  });

  it('cannot be judged where the authority of its API server is not known', async () => {
    const token = await kubernetes.sign({ iss: 'https://untrusted.example.com' });
    expect(await statusOf(token)).toBe(503);
    await cluster.ingress.line('the keys of the token issuer cannot be read');
  });
});

describe('the keys of an issuer', () => {
  it('are read from a file, and again when a token names another key', async () => {
    const iss = 'https://in-file.example.com';
    expect(await statusOf(await inFile.sign({ iss }))).toBe(200);
    expect(await statusOf(await inFile.sign({ iss: 'https://inline.example.com' }))).toBe(200);
    await inFile.rotate('EdDSA');
    writeFileSync(jwksFile, JSON.stringify(inFile.jwks()));
    expect(await statusOf(await inFile.sign({ iss }))).toBe(200);
    expect(await statusOf(await inFile.sign({ iss: 'https://inline.example.com' }))).toBe(401);
  });

  it('that were never read are asked for until they are there, and tokens wait for no longer than seconds', async () => {
    slow.answerWith(() => undefined);
    const token = await slow.sign();
    const asked = performance.now();
    expect(await statusOf(token)).toBe(503);
    // Usually five seconds; without a bound of their own, for ever.
    expect(performance.now() - asked).toBeLessThan(15_000);
    slow.answerWith(undefined);
    await until(async () => (await statusOf(token)) === 200);
  });
});
