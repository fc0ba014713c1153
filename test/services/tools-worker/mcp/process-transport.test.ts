import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { ProcessTransport } from '#services/tools-worker/mcp/process-transport.ts';
import { until } from '../../../helpers/until.ts';

/** Runs a script as a server. */
function transportFor(script: string, env: Record<string, string> = {}) {
  const transport = new ProcessTransport({ command: 'node', args: ['-e', script], env, maxMessageBytes: 10_000 });
  const messages: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  const closed = Promise.withResolvers<void>();
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage) => messages.push(message),
    onerror: (error: Error) => errors.push(error),
    onclose: closed.resolve,
  });
  return { transport, messages, errors, closed: closed.promise };
}

const say = (text: string): string =>
  `console.log(JSON.stringify({ jsonrpc: '2.0', method: 'said', params: { text: ${text} } }));`;
const stay = 'setInterval(() => undefined, 1000);';
const texts = (messages: JSONRPCMessage[]) =>
  messages.map((message) => ('params' in message ? message.params?.['text'] : undefined));

/** A zombie counts as dead: in a container it may stay. */
function isAlive(pid: unknown): boolean {
  try {
    process.kill(Number(pid), 0);
  } catch {
    return false;
  }
  const stat = `/proc/${String(pid)}/stat`;
  return !existsSync(stat) || !readFileSync(stat, 'utf8').includes(') Z ');
}

describe('a server that runs as a process', () => {
  it('exchanges lines, and ends when its input does', async () => {
    const { transport, messages, closed } = transportFor(
      `process.stdin.on('data', (line) => { ${say('String(line).trim()')} }).on('end', () => process.exit(0));`,
    );
    await transport.start();
    await transport.send({ jsonrpc: '2.0', method: 'ask' });
    await until(() => expect(texts(messages)).toEqual(['{"jsonrpc":"2.0","method":"ask"}']));
    await transport.close();
    await closed;
  });

  it('is killed with all that it has started when it ignores SIGTERM', async () => {
    const child = `require('node:child_process').spawn('sleep', ['60'], { stdio: 'inherit' }).pid`;
    const { transport, messages, closed } = transportFor(`process.on('SIGTERM', () => {}); ${say(child)} ${stay}`);
    await transport.start();
    await until(() => expect(messages.length).toBe(1));
    const [pid] = texts(messages);
    expect(isAlive(pid)).toBe(true);
    await transport.close();
    await closed;
    await until(() => expect(isAlive(pid)).toBe(false));
  });

  it('ends all that it has started when it dies', async () => {
    const child = `require('node:child_process').spawn('sleep', ['60'], { stdio: 'inherit' }).pid`;
    const { transport, messages, closed } = transportFor(`${say(child)} setTimeout(() => process.exit(1), 100);`);
    await transport.start();
    await closed;
    const [pid] = texts(messages);
    expect(pid).toEqual(expect.any(Number));
    await until(() => expect(isAlive(pid)).toBe(false));
    await expect(transport.send({ jsonrpc: '2.0', method: 'ask' })).rejects.toThrow('the server has ended');
  });

  it('sees only the variables that are given to it', async () => {
    process.env['RTR_TEST_SECRET'] = 'x';
    const { transport, messages } = transportFor(`${say('Object.keys(process.env)')} ${stay}`, { GIVEN: '1' });
    await transport.start();
    await until(() => expect(messages.length).toBe(1));
    const names = texts(messages)[0] as string[];
    expect(names).toEqual(expect.arrayContaining(['GIVEN', 'PATH']));
    expect(names).not.toContain('RTR_TEST_SECRET');
    await transport.close();
    delete process.env['RTR_TEST_SECRET'];
  });

  it('may print lines that are not messages', async () => {
    const { transport, messages, errors } = transportFor(`console.log('Welcome!'); ${say('1')} ${stay}`);
    await transport.start();
    await until(() => expect(texts(messages)).toEqual([1]));
    expect(errors.length).toBeLessThan(2);
    await transport.close();
  });

  it('is killed when a message is too large', async () => {
    const { transport, errors, closed } = transportFor(`process.stdout.write('x'.repeat(20_000)); ${stay}`);
    await transport.start();
    await closed;
    expect(String(errors[0])).toMatch(/size/i);
  });

  it('reports why it cannot be started', async () => {
    const transport = new ProcessTransport({ command: 'no-such-command', args: [], env: {}, maxMessageBytes: 1 });
    await expect(transport.start()).rejects.toThrow('ENOENT');
    await transport.close();
  });

  it('has the last of its stderr kept until it is ready', async () => {
    const { transport, messages } = transportFor(
      `console.error('oh no'); setTimeout(() => { ${say('1')} }, 50); ${stay}`,
    );
    await transport.start();
    await until(() => expect(transport.stderr).toBe('oh no\n'));
    transport.dropStderr();
    await until(() => expect(messages.length).toBe(1));
    expect(transport.stderr).toBe('');
    await transport.close();
  });
});
