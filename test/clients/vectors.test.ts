import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { makeRankingGguf } from '../helpers/upstreams/make-ranking-gguf.ts';
import { findLlamaServer, startLlamaServer, type LlamaServer } from '../helpers/upstreams/start-llama-server.ts';
import type { Client } from './client.ts';
import { installClient } from './install-client.ts';
import { library } from './library.ts';
import { langchainJs, langchainPython, openaiPython, pypi } from './roster.ts';
import { runCommand } from './run-command.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';
import { useStarted } from '../helpers/use-started.ts';

/*
 * Libraries that ask for embeddings and rankings, unmodified, each with the demo engine and with a real llama-server whose weights are
 * random; and for pictures and sound, with the demo engine.
 */

const embedding = [
  ['openai, Python', openaiPython, 'embed-openai-python.py'],
  ['LangChain, JavaScript', langchainJs, 'embed-langchain.mjs'],
  ['LangChain, Python', langchainPython, 'embed-langchain-python.py'],
] as const;
const cohere = ['Cohere, Python', pypi({ cohere: '7.3.1' }), 'rerank-cohere-python.py'] as const;

const program = findLlamaServer();
let servers: LlamaServer[] = [];
const cluster = useStarted(() => startCluster());
beforeAll(async () => {
  if (program === undefined) return;
  servers = await Promise.all([
    startLlamaServer(program, { alias: 'tiny-embedder', flags: ['--embeddings', '--pooling', 'mean'] }),
    startLlamaServer(program, {
      alias: 'tiny-ranker',
      weights: makeRankingGguf(),
      context: 1024,
      flags: ['--reranking'],
    }),
  ]);
  for (const { url } of servers) await cluster.addWorker({ ENGINE_URL: url });
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

async function run(name: string, from: Client['from'], file: string, format: string, model: string): Promise<unknown> {
  const client = library(name, from, file, [format]);
  const installed = await installClient(client);
  const { url, key } = cluster;
  const turn = { format, model, prompt: '', url, key, installed, folder: temporaryFolder() };
  const { code, out, err } = await runCommand(client.start(turn), turn, 120_000);
  if (code !== 0) throw new Error(err.slice(-3000).replaceAll(key, '(the key)'));
  return JSON.parse(out);
}

describe.each(embedding)('%s', (name, from, file) => {
  it('gets embeddings from the demo engine', async () => {
    const expected = { dimensions: 64, same: true, other: false };
    expect(await run(name, from, file, 'embeddings', 'demo')).toEqual(expected);
  });

  it('gets embeddings from llama-server', { tags: ['llama-server'] }, async () => {
    const expected = { dimensions: 32, same: true, other: false };
    expect(await run(name, from, file, 'embeddings', 'tiny-embedder')).toEqual(expected);
  });
});

it('Cohere, Python, has documents ranked by the demo engine', async () => {
  expect(await run(...cohere, 'rerank', 'demo')).toEqual({ results: 2, sorted: true, best: 1 });
});

it('Cohere, Python, has documents ranked by llama-server', { tags: ['llama-server'] }, async () => {
  const expected = { results: 2, sorted: true, best: expect.any(Number) as number };
  expect(await run(...cohere, 'rerank', 'tiny-ranker')).toEqual(expected);
});

it('openai, Python, has pictures made and changed, texts spoken and sound written down by the demo engine', async () => {
  const expected = { picture: 'PNG', changed: 2, sound: 'RIFF', whole: true, same: true, subtitles: true };
  expect(await run('openai, Python', openaiPython, 'media-openai-python.py', 'images', 'demo')).toEqual(expected);
});
