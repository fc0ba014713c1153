import { describe, expect, it } from 'vitest';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { ProcessTransport } from '#services/tools-worker/mcp/process-transport.ts';
import { until } from '../../../helpers/until.ts';
import { isAlive } from '../../../helpers/cluster/start-cli-worker.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';

async function startServer(script: string) {
  const options = { command: 'node', args: ['-e', script], env: {}, maxMessageBytes: 10_000 };
  const transport = stopAfterTest(new ProcessTransport(options));
  const messages: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  const closed = Promise.withResolvers<void>();
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage) => messages.push(message),
    onerror: (error: Error) => errors.push(error),
    onclose: closed.resolve,
  });
  await transport.start();
  return { transport, messages, errors, closed: closed.promise };
}

const say = (text: string): string =>
  `console.log(JSON.stringify({ jsonrpc: '2.0', method: 'said', params: { text: ${text} } }));`;
/** Code that starts a process of its own. */
const child = `require('node:child_process').spawn('sleep', ['60'], { stdio: 'inherit' }).pid`;
const stay = 'setInterval(() => undefined, 1000);';
const texts = (messages: JSONRPCMessage[]) =>
  messages.map((message) => ('params' in message ? message.params?.['text'] : undefined));

describe('an MCP server that runs as a process', () => {
  it('exchanges lines, and ends when its input does', async () => {
    const { transport, messages, closed } = await startServer(
      `process.stdin.on('data', (line) => { ${say('String(line).trim()')} }).on('end', () => process.exit(0));`,
    );
    await transport.send({ jsonrpc: '2.0', method: 'ask' });
    await until(() => expect(texts(messages)).toEqual(['{"jsonrpc":"2.0","method":"ask"}']));
    await transport.close();
    await closed;
  });

  it('is killed with everything that it has started when it ignores SIGTERM', async () => {
    const { transport, messages, closed } = await startServer(`process.on('SIGTERM', () => {}); ${say(child)} ${stay}`);
    await until(() => expect(messages.length).toBe(1));
    const [pid] = texts(messages);
    expect(isAlive(Number(pid))).toBe(true);
    await transport.close();
    await closed;
    await until(() => expect(isAlive(Number(pid))).toBe(false));
  });

  it('ends everything that it has started when it dies', async () => {
    const { transport, messages, closed } = await startServer(`${say(child)} setTimeout(() => process.exit(1), 100);`);
    await closed;
    const [pid] = texts(messages);
    expect(pid).toEqual(expect.any(Number));
    await until(() => expect(isAlive(Number(pid))).toBe(false));
    await expect(transport.send({ jsonrpc: '2.0', method: 'ask' })).rejects.toThrow('the server has ended');
  });

  it('may print lines that are not messages', async () => {
    const { messages, errors } = await startServer(`console.log('Welcome!'); ${say('1')} ${stay}`);
    await until(() => expect(texts(messages)).toEqual([1]));
    expect(errors.length).toBeLessThan(2);
  });

  it('is killed when a message is too large', async () => {
    const { errors, closed } = await startServer(`process.stdout.write('x'.repeat(20_000)); ${stay}`);
    await closed;
    expect(String(errors[0])).toMatch(/size/i);
  });

  it('is reported with the reason if it cannot be started', async () => {
    const transport = new ProcessTransport({ command: 'no-such-command', args: [], env: {}, maxMessageBytes: 1 });
    await expect(transport.start()).rejects.toThrow('ENOENT');
  });

  it('has the end of its stderr kept until it is ready', async () => {
    const { transport, messages } = await startServer(
      `console.error('oh no'); setTimeout(() => { ${say('1')} }, 50); ${stay}`,
    );
    await until(() => expect(transport.stderr).toBe('oh no\n'));
    transport.dropStderr();
    await until(() => expect(messages.length).toBe(1));
    expect(transport.stderr).toBe('');
  });
});
