import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineWorkers } from '#services/rtr/up/workers/engine-workers.ts';
import type { Engine } from '#services/rtr/up/workers/find-engines.ts';
import { spawnGuarded } from '#services/rtr/up/children/child.ts';
import { SupervisedChild } from '#services/rtr/up/children/supervised-child.ts';

const ollama = { origin: 'default port of Ollama', url: 'http://127.0.0.1:11434' };
const vllm = { origin: 'default port of vLLM', url: 'http://127.0.0.1:8000' };

let workers: EngineWorkers;
let [children, found, serving]: [SupervisedChild[], Engine[], number] = [[], [], 0];

beforeEach(() => {
  [children, found, serving] = [[], [], 0];
});
afterEach(() => workers.stop());

describe('the gpu workers of a cluster', () => {
  it('are one per engine', async () => {
    expect(await begin([], [ollama, vllm])).toEqual([ollama, vllm]);
    expect(running()).toEqual([ollama.url, vllm.url]);
  });

  it('are one for an engine that is both named and found', async () => {
    await begin([{ origin: 'ENGINE_URLS', url: 'http://localhost:8000' }], [vllm]);
    expect(running()).toEqual(['http://localhost:8000']);
  });

  it('serve the demo engine while there is no other', async () => {
    expect(await begin([], [])).toEqual([]);
    expect(running()).toEqual(['demo', 'http://demo']);
  });

  it('replace the demo engine by a real one that appears, once the real one serves', async () => {
    await begin([], []);
    found = [ollama];
    serving = 1;
    expect(workers.isHandingOver).toBe(false);
    await workers.poll();
    expect(running()).toEqual(['demo', 'http://demo', ollama.url]);
    expect(workers.isHandingOver).toBe(true);
    serving = 2;
    await workers.poll();
    expect(running()).toEqual([ollama.url]);
    expect(workers.isHandingOver).toBe(false);
  });

  it('keep running when their engine disappears, and are not doubled when it returns', async () => {
    await begin([], [ollama]);
    await workers.poll();
    found = [ollama];
    await workers.poll();
    expect(running()).toEqual([ollama.url]);
  });

  it('are none, not even for the demo engine, where other tiers serve; an engine that appears gets one', async () => {
    expect(await begin([], [], false)).toEqual([]);
    expect(running()).toEqual([]);
    found = [ollama];
    await workers.poll();
    expect(running()).toEqual([ollama.url]);
  });

  it('have all ended after stop', async () => {
    await begin([vllm], [ollama]);
    await workers.stop();
    expect(running()).toEqual([]);
  });
});

function begin(named: Engine[], local: Engine[], withDemo = true): Promise<Engine[]> {
  const engine = { origin: 'demo', url: 'http://demo' };
  workers = new EngineWorkers({
    namedEngines: named,
    findLocal: async () => found,
    startWorker: ({ url }) => start(url),
    startDemo: withDemo ? async () => ({ engine, child: await start('demo') }) : undefined,
    countServing: async () => serving,
    say: () => {},
  });
  return workers.start(local);
}

async function start(name: string): Promise<SupervisedChild> {
  const told = { onUnexpectedEnd: () => {}, onGiveUp: () => {}, onChange: () => {} };
  const child = await SupervisedChild.start({ name, start: () => spawnGuarded('sleep', ['60']), ...told });
  children.push(child);
  return child;
}

function running(): string[] {
  return children.filter(({ pid }) => pid !== undefined).map(({ name }) => name);
}
