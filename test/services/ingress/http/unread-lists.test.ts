import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { openRaw, rawHead } from '../../../helpers/clients/raw-http.ts';
import { startScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { metricOf } from '../../../helpers/cluster/worker-admin.ts';
import { adminCommandsOf } from '../../../helpers/rtr/admin-commands.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

/** Unread answers take an eighth of the memory. */
const memoryBytes = 64 * 1024 * 1024;
const cluster = useStarted(() => startScriptedCluster({ ingress: { MEMORY_BYTES: String(memoryBytes) } }));

/** Workers whose list takes some ten megabytes, more than the buffers of a connection hold. */
beforeAll(async () => {
  const models = Array.from({ length: 1_900 }, (_, at) => ({ id: `${'x'.repeat(200)}${at}`, capabilities: [] }));
  const tools = Array.from({ length: 7 }, (_, at) => ({
    name: `tool-${at}`,
    description: 'x'.repeat(60_000),
    inputSchema: { type: 'object' },
  }));
  const own = (kind: number) => tools.map((tool) => ({ ...tool, name: `${tool.name}-${kind}` }));
  const added = Array.from({ length: 24 }, (_, at) => [
    cluster.addScripted({ kind: 'large', models }),
    cluster.addScripted({ tier: 'tools', kind: 'tools', formats: ['tools'], models: [], tools: own(at) }),
  ]);
  await Promise.all(added.flat());
});

it.each([
  [
    'the Admin API',
    '/api/admin/v1/workers',
    async () => {
      const { raw } = (await adminCommandsOf(cluster).json(
        'tokens',
        'create',
        '--name',
        'lists',
        '--scopes',
        'read',
      )) as { raw: string };
      return raw;
    },
  ],
  ['the API', '/api/tools/v1/list', () => Promise.resolve(cluster.key)],
])('lists of %s that clients do not read are bounded in sum, and others are read whole', async (_, path, findKey) => {
  const key = await findKey();
  const givenUp = async (): Promise<number> =>
    (await metricOf(cluster.adminUrl, 'rtr_unread_answers_total')) ?? Number.NaN;
  const before = await givenUp();
  const unread = await Promise.all(Array.from({ length: 8 }, () => openRaw(cluster.url)));
  onTestFinished(() => unread.forEach(({ socket }) => socket.destroy()));
  for (const { socket } of unread) {
    socket.pause();
    socket.write(rawHead(key, [], path, 'GET'));
  }
  await until(async () => (await givenUp()) - before >= 6);
  const answer = await fetch(`${cluster.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const { data } = (await answer.json()) as { data: object[] };
  expect(data.length).toBeGreaterThanOrEqual(24);
  for (const { socket } of unread) socket.destroy();
  await until(async () => (await metricOf(cluster.adminUrl, 'rtr_unread_bytes')) === 0);
});
