import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { boxFolder, writeBoxState, type JoinedBox } from '#services/rtr/box/box-state.ts';
import { joinRouter } from '#services/rtr/box/join-router.ts';
import { leaveRouter } from '#services/rtr/box/leave-router.ts';
import { serveBox } from '#services/rtr/box/serve-box.ts';
import { boxSettings } from '#services/rtr/config.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { connectRedis } from '#shared/store/redis/connect-redis.ts';
import { makeSelfSigned, type SelfSigned } from '../../helpers/box/start-door.ts';
import { made } from '../../helpers/accounts/made.ts';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { temporaryFolder, useFolder } from '../../helpers/files/temporary-folder.ts';
import { errorWith } from '../../helpers/error-with.ts';
import { compileCache } from '../../helpers/processes/start-process.ts';
import { startSecuredNats, type SecuredNats } from '../../helpers/servers/start-secured-nats.ts';
import { silentLog as log } from '../../helpers/silent-log.ts';
import { until } from '../../helpers/until.ts';

const prefix = 'joined';
const folder = useFolder();
const model = `model-of-a-box-${process.pid}`;
let nats: SecuredNats;
let cluster: Cluster;
let tls: SelfSigned;

beforeAll(async () => {
  const wsPort = await findFreePort();
  nats = await startSecuredNats({ prefix, config: [`websocket { listen: "127.0.0.1:${wsPort}", no_tls: true }`] });
  tls = makeSelfSigned(folder);
  writeFileSync(join(folder, 'tls.crt'), tls.cert);
  writeFileSync(join(folder, 'tls.key'), tls.key);
  cluster = await startCluster({
    prefix,
    natsUrl: `nats://127.0.0.1:${nats.port}`,
    ingress: {
      NATS_CREDENTIALS: nats.files.ingress,
      NATS_RELAY_URL: `ws://127.0.0.1:${wsPort}`,
      CREDENTIALS_DIR: nats.folder,
      TLS_FOLDER: folder,
      NO_WORKER_TIMEOUT_MS: '500',
    },
    engine: { DEMO_MODELS: model },
    workers: 0,
  });
});

afterAll(async () => {
  await cluster.stop();
  await nats.stop();
});

/** Makes an invitation, as an administrator does, and returns its line. */
async function invite(name: string): Promise<string> {
  const connection = connectRedis(inject('redisUrl'), { log, name: 'test' });
  onTestFinished(() => connection.close());
  await connection.whenReady(AbortSignal.timeout(10_000));
  const { boxInvitations } = openAccounts(connection.redis, `${prefix}:`);
  const { secret } = made(
    await boxInvitations.create({ name, tiers: ['gpu'], usableMs: 3_600_000, invitedBy: undefined }),
  );
  return `${cluster.url.replace('http:', 'https:')}#${secret}.${tls.fingerprint}`;
}

/** Lets the machine with a data folder serve as the box that it has become. */
function serve(box: JoinedBox, data: string) {
  const stop = new AbortController();
  const said: string[] = [];
  const ended = serveBox({
    box,
    folder: boxFolder(data),
    root: process.cwd(),
    config: loadConfig(boxSettings, { ENGINE_URLS: cluster.engineUrl }),
    environment: { PATH: '/nowhere', NODE_COMPILE_CACHE: compileCache },
    findLocal: () => Promise.resolve([]),
    plan: { ready: [], unready: [] },
    logs: { follow: () => {}, write: () => {} },
    say: (text) => void said.push(text),
    stop: stop.signal,
    kill: new AbortController().signal,
  });
  const settled = Promise.allSettled([ended]);
  const end = async () => {
    stop.abort();
    await settled;
  };
  onTestFinished(end);
  return { said, ended, end };
}

async function ask(): Promise<string | null> {
  const answer = await post({ ...cluster, body: { model, messages: [{ role: 'user', content: 'Hello.' }] } });
  await answer.text();
  return answer.status === 200 ? answer.headers.get('x-rtr-worker') : null;
}

const servedBy = (name: string) => until(async () => (await ask())?.startsWith(`${name}.`) ?? false);

const isRevoked = (name: string): boolean =>
  readAuthority(nats.folder).issued.some((each) => each.name === name && each.revokedAt !== undefined);

describe('a box', { tags: ['openssl'] }, () => {
  it('joins with one line over the port for clients, serves, continues, and leaves', async () => {
    const data = temporaryFolder();
    const line = await invite('joes-box');
    const options = { folder: boxFolder(data), host: 'joes-laptop', say: () => {}, warn: () => {} };
    const box = await joinRouter({ ...options, line });
    const first = serve(box, data);
    await until(() => first.said.includes('joined as joes-box, 1 engine, 1 model'));
    await servedBy('joes-box');
    await first.end();
    const second = serve(await joinRouter({ ...options, line: undefined }), data);
    await servedBy('joes-box');
    await second.end();
    expect(await leaveRouter([boxFolder(data)])).toEqual([`joes-box has left ${new URL(line).origin}.`]);
    expect(isRevoked('joes-box')).toBe(true);
    // In operation, `rtr up` or an administrator lets NATS read the revocation.
    nats.reload();
    writeBoxState(boxFolder(data), { v: 1, joined: box });
    await expect(serve(box, data).ended).rejects.toThrow(errorWith('box_refused'));
  });
});
