import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { user } from './start-test-engine.ts';

function startMain(environment: Record<string, string>) {
  const env = { PATH: process.env['PATH'], LOG_FORMAT: 'json', ...environment };
  const words = ['services/demo-engine/main.ts'];
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

describe('the demo engine as a process', () => {
  it('logs its address, answers there, and stops at once on SIGTERM even while answering', async () => {
    const child = startMain({});
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { url } = JSON.parse(line) as { url: string };
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const body = JSON.stringify({ model: 'demo', stream: true, messages: [user('Hi')], demo: { fault: 'hang' } });
    const running = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
    const cut = expect(running.text()).rejects.toThrow('terminated');
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
    await cut;
  });

  it('exits with a message that names the invalid setting', async () => {
    const child = startMain({ DEMO_OPTIONS: 'fault=dorp' });
    const [said] = (await once(child.stderr, 'data')) as [Buffer];
    expect(said.toString()).toMatch(/^DEMO_OPTIONS="fault=dorp" is not valid: fault: /);
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(78);
  });

  it('exits with a message that names what stands in the place of a removed setting', async () => {
    const child = startMain({ DEMO_TOKENS_PER_SECOND: '50' });
    const [said] = (await once(child.stderr, 'data')) as [Buffer];
    const sentence = 'DEMO_TOKENS_PER_SECOND is no longer a setting: it is a word of DEMO_OPTIONS now: rate=50';
    expect(said.toString().trim()).toBe(sentence);
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(78);
  });
});
