import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCli } from '../helpers/clis/install-clis.ts';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';

const [claude, opencode] = [findCli('claude'), findCli('opencode')];
const secret = 'The badger keeps its umbrella in the fridge.';

let cluster: Cluster;
let folder: string;
beforeAll(async () => {
  cluster = await startCluster();
  folder = mkdtempSync(join(tmpdir(), 'rtr-agent-'));
  writeFileSync(join(folder, 'note.txt'), `${secret}\n`);
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Number of answers that the engine has started. */
async function engineAnswers(): Promise<number> {
  const state = (await (await fetch(`${cluster.engineUrl}/demo/state`)).json()) as { started: number };
  return state.started;
}

describe.skipIf(!claude)('Claude Code', () => {
  const ask = (prompt: string, ...args: string[]) =>
    runAgent(claude ?? '', ['-p', prompt, '--output-format', 'json', '--model', 'demo', ...args], folder, {
      ANTHROPIC_BASE_URL: `${cluster.url}/api/anthropic`,
      ANTHROPIC_AUTH_TOKEN: cluster.key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
    });

  it('gets a plain answer', async () => {
    const { code, stdout, stderr } = await ask('Say hello to the badger.');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({
      is_error: false,
      stop_reason: 'end_turn',
      result: expect.stringContaining('Say hello to the badger.'),
    });
  });

  it('reads a file through its own tool and finishes', async () => {
    const before = await engineAnswers();
    const file = join(folder, 'note.txt');
    const { stdout } = await ask(
      `Read the file ${file} with the Read tool and tell me what it says.`,
      '--allowedTools',
      'Read',
    );
    const result = JSON.parse(stdout) as { num_turns: number };
    expect(result).toMatchObject({ is_error: false, result: expect.stringContaining(secret) });
    expect(result.num_turns).toBe(2);
    expect(await engineAnswers()).toBe(before + 2);
  });

  it('reports a model that does not exist, without endless retries', async () => {
    const { stdout } = await runAgent(
      claude ?? '',
      ['-p', 'hi', '--output-format', 'json', '--model', 'no-such-model'],
      folder,
      {
        ANTHROPIC_BASE_URL: `${cluster.url}/api/anthropic`,
        ANTHROPIC_API_KEY: cluster.key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    );
    expect(JSON.parse(stdout)).toMatchObject({ is_error: true, result: expect.stringContaining('no-such-model') });
  });
});

describe.skipIf(!opencode).each([
  { format: 'chat', npm: '@ai-sdk/openai-compatible', path: '/api/openai/v1' },
  { format: 'messages', npm: '@ai-sdk/anthropic', path: '/api/anthropic/v1' },
])('opencode in the $format format', ({ npm, path }) => {
  const ask = (prompt: string) => {
    const provider = {
      npm,
      name: 'Router',
      options: { baseURL: cluster.url + path, apiKey: cluster.key },
      models: { demo: { name: 'Demo' } },
    };
    const config = {
      $schema: 'https://opencode.ai/config.json',
      autoupdate: false,
      share: 'disabled',
      provider: { router: provider },
    };
    return runAgent(opencode ?? '', ['run', '--format', 'json', '-m', 'router/demo', prompt], folder, {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    });
  };
  const textsOf = (stdout: string): string =>
    stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { type: string; part?: { text?: string } })
      .filter(({ type }) => type === 'text')
      .map(({ part }) => part?.text ?? '')
      .join('\n');

  it('gets a plain answer', async () => {
    const { stdout, stderr } = await ask('Say hello to the badger.');
    expect(textsOf(stdout), stderr).toContain('Say hello to the badger.');
  });

  it('reads a file through its own tool and finishes', async () => {
    const { stdout, stderr } = await ask(
      `Read the file ${join(folder, 'note.txt')} with the read tool and tell me what it says.`,
    );
    expect(stdout).toContain('"tool_use"');
    expect(textsOf(stdout), stderr).toContain(secret);
  });
});
