import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCli, type CliName } from '../helpers/clis/install-clis.ts';
import { startCliWorker, type CliWorker } from '../helpers/cluster/start-cli-worker.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { startFakeModelApis, type FakeModelApis } from '../helpers/upstreams/fake-model-apis.ts';
import { realClis } from '../helpers/clis/real-clis.ts';
import { until } from '../helpers/until.ts';

const installed = new Map<CliName, string>();
for (const { name } of realClis) {
  const command = findCli(name);
  if (command !== undefined) installed.set(name, command);
}

describe.each(realClis.filter(({ name }) => installed.has(name)))('a worker of $name', (cli) => {
  let api: FakeModelApis;
  let cluster: Cluster;
  let worker: CliWorker;

  beforeAll(async () => {
    api = await startFakeModelApis();
    cluster = await startCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });
    worker = await startCliWorker(cluster, {
      CLI_KIND: cli.name,
      CLI_COMMAND: installed.get(cli.name) ?? '',
      CLI_MODELS: cli.model,
      SLOTS: '1',
      START_TIMEOUT_MS: '200000',
      ...cli.environment(api.url),
    });
    expect(await ask('Hello.')).toMatchObject({ status: 200 });
  }, 300_000);
  afterAll(async () => {
    await worker?.stop();
    await cluster?.stop();
    await api?.close();
  });

  async function ask(content: string): Promise<{ status: number; message?: string; ms: number }> {
    const askedAt = performance.now();
    const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.key}` },
      body: JSON.stringify({ model: cli.model, messages: [{ role: 'user', content }] }),
    });
    const { error } = (await answer.json()) as { error?: { message: string } };
    return { status: answer.status, ...error, ms: performance.now() - askedAt };
  }

  it.runIf(cli.keeps).each([
    { upstream: 400, status: 400 },
    { upstream: 500, status: 502 },
  ])('keeps the process of a request that the upstream answers with $upstream', async ({ upstream, status }) => {
    const before = worker.processes();
    expect(await ask(`[fake status=${upstream}]`)).toMatchObject({ status });
    expect(await ask('And now?')).toMatchObject({ status: 200 });
    expect(worker.processes()).toEqual(expect.arrayContaining(before));
  });

  it('takes no jobs once the upstream has refused its login, and says so', async () => {
    expect(await ask('[fake status=401]')).toMatchObject({ status: 502 });
    await until(async () => (await ask('Hello?')).status === 503, 60_000);
    const refusal = await ask('Hello?');
    expect(refusal.message).toContain('failing: login');
    expect(refusal.ms).toBeLessThan(5_000);
    await until(() => worker.service.lines.some(({ msg }) => String(msg).includes('refuses the login')));
  });
});
