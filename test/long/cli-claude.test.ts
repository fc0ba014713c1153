import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeModelApis, type FakeModelApis } from '../helpers/fake-model-apis.ts';
import { installCli } from '../helpers/install-clis.ts';
import { startCliWorker, type CliWorker } from '../helpers/start-cli-worker.ts';
import { startCluster, until, type Cluster } from '../helpers/start-cluster.ts';

const command = await installCli('claude');

describe.skipIf(!command)('Claude Code as a worker', () => {
  let api: FakeModelApis;
  let cluster: Cluster;
  let worker: CliWorker;
  let openai: OpenAI;
  let anthropic: Anthropic;
  beforeAll(async () => {
    api = await startFakeModelApis();
    cluster = await startCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });
    worker = await startCliWorker(cluster, {
      CLI_KIND: 'claude',
      CLI_COMMAND: command ?? '',
      CLI_MODELS: 'claude-sonnet-5,claude-opus-5',
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'upstream-key',
      SECRET_OF_THE_HOST: 'must not leak',
    });
    openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
    await until(() => worker.processes().length === 2);
  });
  afterAll(async () => {
    await worker?.stop();
    await cluster?.stop();
    await api?.close();
  });

  it('answers a chat client', async () => {
    const answer = await openai.chat.completions.create({
      model: 'claude-sonnet-5',
      messages: [{ role: 'user', content: 'Hello there.' }],
    });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'You said: Hello there.' } });
    expect(answer.usage).toMatchObject({ prompt_tokens: 16, completion_tokens: 4 });
  });

  it('answers a messages client', async () => {
    const message = await anthropic.messages.create({
      model: 'claude-sonnet-5',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Hello there.' }],
    });
    expect(message).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'You said: Hello there.' }],
    });
  });
});
