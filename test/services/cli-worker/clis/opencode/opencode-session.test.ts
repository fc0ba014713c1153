import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ModelOnlyPlugin } from '#services/cli-worker/clis/opencode/model-only-plugin.ts';
import { OpencodeHttp } from '#services/cli-worker/clis/opencode/opencode-http.ts';
import { OpencodeSession } from '#services/cli-worker/clis/opencode/opencode-session.ts';
import { ToolListServer } from '#services/cli-worker/clis/tool-list-server.ts';
import { CliProcess } from '#services/cli-worker/process/cli-process.ts';
import { ProcessGuard } from '#services/cli-worker/process/process-guard.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';
import { serveInTest } from '../../../../helpers/servers/serve-http.ts';
import { stopAfterTest } from '../../../../helpers/stop-after-test.ts';
import { until } from '../../../../helpers/until.ts';

const request = {
  model: 'p/m',
  system: '',
  items: [],
  parameters: {},
  effort: undefined,
  schema: undefined,
  tools: [],
  toolNames: new Map<string, string>(),
  parallelCalls: true,
  stop: [],
};

it.each([
  ['while it runs', false],
  ['while opencode has not taken it yet', true],
])(
  'a conversation that is stopped %s is stopped once, before it is deleted, and its process stays usable',
  async (_, isEarly) => {
    const taken = Promise.withResolvers<void>();
    const calls: string[] = [];
    let sessions = 0;
    let sendEvent = (_event: object): void => {};
    const url = await serveInTest(async ({ method, url: path }, response) => {
      if (path === '/event') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        sendEvent = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`);
        return;
      }
      const call = `${method} ${path}`;
      calls.push(call);
      // opencode answers a call about a deleted session with 404.
      if (path?.endsWith('/abort')) {
        sendEvent({ type: 'session.error', properties: { sessionID: 's1', error: { name: 'MessageAbortedError' } } });
        await sleep(100);
        calls.push('the session is stopped');
      }
      if (path?.endsWith('/prompt_async') && isEarly) await taken.promise;
      if (path?.endsWith('/abort') && calls.some((each) => each.startsWith('DELETE'))) response.writeHead(404);
      if (call === 'POST /session') sessions += 1;
      response.end(call === 'POST /session' ? JSON.stringify({ id: `s${sessions}` }) : '{}');
    });
    const folder = temporaryFolder();
    const guard = stopAfterTest(new ProcessGuard(folder, process.env['PATH']));
    const child = new CliProcess({ command: 'sleep', args: ['60'], cwd: folder, environment: {}, guard });
    stopAfterTest({ close: () => child.end() });
    const toolList = stopAfterTest(await ToolListServer.open());
    const plugin = await ModelOnlyPlugin.write(folder);
    const session = new OpencodeSession({ process: child, http: new OpencodeHttp(url, 'p'), plugin, toolList, folder });
    await session.followEvents();
    const stop = new AbortController();
    const conversation = session.converse(request, () => undefined, stop.signal);
    await until(() => calls.includes('POST /session/s1/prompt_async'));
    // The answer to the last call arrives, or does not.
    await sleep(100);
    stop.abort(new Error('stopped'));
    taken.resolve();
    await expect(conversation).rejects.toThrow();
    await until(() => calls.includes('DELETE /session/s1'));
    const ending = calls.filter((call) => call !== 'POST /session');
    expect(ending.slice(-3)).toEqual(['POST /session/s1/abort', 'the session is stopped', 'DELETE /session/s1']);
    expect(child.isRunning).toBe(true);
  },
);
