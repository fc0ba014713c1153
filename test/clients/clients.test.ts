import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { findLlamaServer, startLlamaServer, type LlamaServer } from '../helpers/upstreams/start-llama-server.ts';
import { startScriptFront, type ScriptFront } from '../helpers/upstreams/start-script-front.ts';
import { startProcess } from '../helpers/processes/start-process.ts';
import { useStarted } from '../helpers/use-started.ts';
import type { Client } from './client.ts';
import { installClient } from './install-client.ts';
import { keepResults, keptResults, type ClientResult } from './results.ts';
import { roster } from './roster.ts';
import { tryClient } from './try-client.ts';

const program = findLlamaServer();
/** What this run saw, by client and format. */
const results = new Map<string, ClientResult>();

const engineSettings = { PORT: '0', DEMO_OPTIONS: 'rate=0' };

const engine = useStarted(async () => startProcess('services/demo-engine/main.ts', engineSettings));
const front = useStarted(async () => {
  const { url } = await engine.line('demo engine is ready');
  return startScriptFront(String(url), { force: false });
});
const cluster = useStarted(() => startCluster({ engineUrl: front.url }));
let installed: Map<Client, Promise<string>>;
let llama: LlamaServer | undefined;
let llamaFront: ScriptFront | undefined;
beforeAll(async () => {
  installed = new Map(roster.map((client) => [client, installClient(client)]));
  // Whoever awaits it is told.
  for (const each of installed.values()) each.catch(() => undefined);
  if (program === undefined) return;
  llama = await startLlamaServer(program, { slots: 1, context: 131_072 });
  llamaFront = await startScriptFront(llama.url, { force: true });
  await cluster.addWorker({ ENGINE_URL: llamaFront.url });
});
afterAll(() => Promise.all([llamaFront?.stop(), llama?.stop()]));

describe.concurrent.each(roster)('$name', (client) => {
  it.for(client.formats)('takes a turn in the %s format', async (format, { expect }) => {
    const version = Object.values(client.from.packages)[0] ?? '';
    const result: ClientResult = { client: client.name, version, format, demo: 'failed', llamaServer: 'failed' };
    results.set(`${client.name} ${format}`, result);
    const folder = await installed.get(client)?.catch((error: Error) => {
      console.warn(`${client.name} could not be installed: ${error.message}`);
    });
    if (folder === undefined) {
      result.demo = result.llamaServer = 'not installed';
      expect(kept(result), 'npm run test:clients -- --update keeps that it was not installed').toEqual(result);
      return;
    }
    const turnOn = async (model: string, before: ScriptFront | undefined): Promise<string> => {
      if (!before) return 'no llama-server';
      return (await tryClient(client, format, folder, { url: cluster.url, key: cluster.key, model, front: before }))
        .what;
    };
    const [demo, tiny] = await Promise.allSettled([turnOn('demo', front), turnOn('tiny', llamaFront)]);
    if (demo.status === 'fulfilled') result.demo = demo.value;
    if (tiny.status === 'fulfilled') result.llamaServer = tiny.value;
    const reasons = [demo, tiny].flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    expect(reasons).toEqual([]);
  });
});

it('the documentation has a table of what this run saw', () => {
  const seen = [...results.values()];
  if (process.env['CLIENTS_UPDATE'] === '1') keepResults(seen);
  expect(seen.map(kept)).toEqual(seen.map((result) => ({ ...kept(result), ...whatRan(result) })));
  if (seen.length === roster.flatMap(({ formats }) => formats).length) {
    expect(keptResults()).toHaveLength(seen.length);
  }
});

it('the documentation is right that keys stay out of logs', () => {
  const logs = [engine, cluster.ingress, ...cluster.workers].map(({ lines }) => JSON.stringify(lines)).join('\n');
  expect(logs).toContain('request served');
  expect(logs).not.toContain(cluster.key);
});

/** A result without the engine that this machine has not. */
function whatRan({ llamaServer, ...rest }: ClientResult): Partial<ClientResult> {
  return program === undefined ? rest : { ...rest, llamaServer };
}

function kept({ client, format }: ClientResult): ClientResult | undefined {
  return keptResults().find((one) => one.client === client && one.format === format);
}
