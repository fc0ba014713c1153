import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fromSeed } from '@nats-io/jwt';
import { boxSettings } from '#services/rtr/config.ts';
import { writeBoxState, writeCredentialFiles, type JoinedBox } from '#services/rtr/box/box-state.ts';
import { serveBox } from '#services/rtr/box/serve-box.ts';
import { watchAccess } from '#services/rtr/box/watch-access.ts';
import type { Engine } from '#services/rtr/up/workers/find-engines.ts';
import type { Plan } from '#services/rtr/up/workers/plan-workers.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { post } from '../../../helpers/clients/keyed-requests.ts';
import { startCluster, type Cluster } from '../../../helpers/cluster/start-cluster.ts';
import { createSecret, makeSelfSigned, startDoor } from '../../../helpers/box/start-door.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { temporaryFolder, useFolder } from '../../../helpers/files/temporary-folder.ts';
import { startSecuredNats, type SecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { until } from '../../../helpers/until.ts';

const prefix = 'boxes';
const certificates = useFolder();
let nats: SecuredNats;
let wsPort: number;
/** Has the ingress, and the engine that the boxes serve. */
let cluster: Cluster;

beforeAll(async () => {
  wsPort = await findFreePort();
  nats = await startSecuredNats({ prefix, config: [`websocket { listen: "127.0.0.1:${wsPort}", no_tls: true }`] });
  cluster = await startCluster({
    prefix,
    natsUrl: `nats://127.0.0.1:${nats.port}`,
    ingress: { NATS_CREDENTIALS: nats.files.ingress },
    workers: 0,
  });
});

afterAll(async () => {
  await cluster.stop();
  await nats.stop();
});

/** Creates a box that has joined, as the authority would have admitted it. */
async function createBox(name: string): Promise<JoinedBox> {
  const { jwt, seed } = parseCredential(readFileSync(await nats.issue({ role: 'gpu', name }), 'utf8'));
  return {
    address: `http://127.0.0.1:${wsPort}`,
    invitation: createSecret(),
    key: { publicKey: fromSeed(seed).getPublicKey(), seed: new TextDecoder().decode(seed) },
    name,
    credentials: { gpu: jwt },
    broker: '/nats',
  };
}

/** Lets a box serve until the end of the test. */
function serve(box: JoinedBox, { engines = [], plan }: { engines?: Engine[]; plan?: Plan } = {}) {
  const folder = join(temporaryFolder(), 'box');
  writeBoxState(folder, { v: 1, joined: box });
  const stop = new AbortController();
  const said: string[] = [];
  const ended = serveBox({
    box,
    folder,
    root: process.cwd(),
    config: loadConfig(boxSettings, {}),
    environment: { PATH: '/nowhere', NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], DRAIN_MS: '0' },
    findLocal: () => Promise.resolve(engines),
    plan: plan ?? { ready: [], unready: [] },
    logs: { follow: () => {}, write: () => {} },
    say: (text) => void said.push(text),
    stop: stop.signal,
    kill: new AbortController().signal,
  });
  const outcome = ended.catch((error: unknown) => error);
  onTestFinished(async () => {
    stop.abort();
    await outcome;
  });
  return { said, ended, stop: () => stop.abort() };
}

async function ask(): Promise<string | null> {
  const answer = await post({ ...cluster, body: { model: 'demo', messages: [{ role: 'user', content: 'Hello.' }] } });
  await answer.text();
  return answer.status === 200 ? answer.headers.get('x-rtr-worker') : null;
}

describe('a box', () => {
  it('serves the engine that it finds, says so, and stops at once when it is revoked', async () => {
    const engine = { origin: 'usual port', url: cluster.engineUrl };
    const claude = { tier: 'cli', name: 'claude', service: 'cli-worker', settings: {}, detail: 'claude (/bin/claude)' };
    const plan = { ready: [claude], unready: [] } as Plan;
    const { said, ended } = serve(await createBox('joes-box'), { engines: [engine], plan });
    await until(() => said.includes('joined as joes-box, 1 engine, 1 model'));
    expect(said[0]?.split('\n')).toEqual([
      '  GPUs      none found',
      `  engines   ${cluster.engineUrl} (usual port): 1 model: demo`,
      '  others    claude (/bin/claude): not offered, the invitation is for gpu',
    ]);
    await until(async () => (await ask())?.startsWith('joes-box.') ?? false);
    await nats.revoke('joes-box');
    await expect(ended).rejects.toThrow(errorWith('box_refused', { isLasting: true }));
    await expect(ended).rejects.toThrow(/does not accept joes-box any more.*rtr invite worker/);
  });

  it('says that it waits for an engine, and stops when it is asked to', async () => {
    const { said, ended, stop } = serve(await createBox('empty-box'));
    await until(() => said.some((line) => line.startsWith('joined as empty-box. No engine serves yet')));
    stop();
    await expect(ended).resolves.toBeUndefined();
  });

  it('stops while it is connecting', async () => {
    const box = await createBox('hasty-box');
    const folder = temporaryFolder();
    const { gpu: credentialFile = '' } = writeCredentialFiles(folder, box);
    const stop = new AbortController();
    const watching = watchAccess({ box, credentialFile, say: () => {}, stop: stop.signal });
    stop.abort();
    await expect(watching).resolves.toBeUndefined();
  });

  it(
    'waits for a router that is away, and ends if another certificate answers there',
    { tags: ['openssl'] },
    async () => {
      const box = await createBox('early-box');
      const away = serve({ ...box, address: `http://127.0.0.1:${await findFreePort()}` });
      await until(() => away.said.some((line) => line.includes('cannot be reached now: the box waits for it')));
      const [old, tls] = [makeSelfSigned(certificates), makeSelfSigned(certificates)];
      const { address } = await startDoor(() => {}, tls);
      const { ended } = serve({ ...box, address, fingerprint: old.fingerprint, certificate: old.cert });
      await expect(ended).rejects.toThrow(/certificate of https.* has changed/);
    },
  );
});
