import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { version } from '#shared/core/version.ts';
import { report } from '../../../../helpers/compose/report.ts';
import { useFolder } from '../../../../helpers/files/temporary-folder.ts';
import { createNpx, packProgram } from '../../../../helpers/processes/packed-program.ts';
import { until } from '../../../../helpers/until.ts';

const home = useFolder();
const data = join(home, '.local/share/model-router');
let npx: ReturnType<typeof createNpx>;
beforeAll(async () => {
  npx = createNpx(await packProgram(), home);
}, 120_000);

async function measure<Value>(name: string, run: () => Promise<Value>): Promise<{ value: Value; ms: number }> {
  const startedAt = performance.now();
  const value = await run();
  const ms = performance.now() - startedAt;
  report(`${name}: ${(ms / 1000).toFixed(1)} s`);
  return { value, ms };
}

/** Starts a router, and resolves with its key and its end when it has printed that it is up. */
async function up(words: readonly string[] = []) {
  const port = await findFreePort();
  const run = npx([...words, 'up'], { PORT: String(port) });
  let hasEnded = false;
  void run.ended.then(() => (hasEnded = true));
  const stop = async () => {
    run.interrupt();
    return run.ended;
  };
  onTestFinished(async () => void (await stop()));
  await until(() => {
    if (hasEnded) throw new Error(`rtr up ended: ${run.out}${run.err}`);
    expect(run.out).toContain('Model Router is up');
  }, 120_000);
  return { url: `http://127.0.0.1:${port}`, key: /Your router key: (\S+)/.exec(run.out)?.[1], stop };
}

describe('the package, in an empty home folder, with only the programs of the system', () => {
  it('runs the commands of the client before anything else is installed', async () => {
    const { value } = await measure('npx, commands of the client', async () => {
      const run = npx(['login', 'http://127.0.0.1:9'], { npm_config_registry: 'http://127.0.0.1:9' });
      return { code: await run.ended, err: run.err };
    });
    expect(value).toEqual({ code: 1, err: expect.stringContaining('cannot be reached') as string });
    expect(existsSync(data)).toBe(false);
  });

  it('prints its version, after it has fetched the Node that it needs', async () => {
    const first = await measure('npx, first start, with the download of Node', () => npx(['--version']).ended);
    expect(first.value).toBe(0);
    const run = npx(['--version']);
    await measure('npx, next start', () => run.ended);
    expect([run.out, run.err]).toEqual([`${version}\n`, '']);
  });

  it('is a whole router: a key within 20 s, an answer, its commands, its package; Ctrl-C stops it', async () => {
    const { value: router, ms } = await measure('rtr up, until the key', () => up());
    expect(ms).toBeLessThan(20_000);
    const { value: answer } = await measure('first answer', async () => {
      const response = await fetch(`${router.url}/api/openai/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${router.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'auto', messages: [{ role: 'user', content: 'Hello!' }] }),
      });
      return response.json();
    });
    expect(answer).toMatchObject({ choices: [{ message: { role: 'assistant' } }] });
    const page = await fetch(router.url, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script') as string]);
    expect((await fetch(`${router.url}/api/admin/v1/docs/swagger-ui-bundle.js`)).status).toBe(200);

    const keys = npx(['keys', 'list', '--json']);
    expect(await keys.ended).toBe(0);
    expect(keys.out.trim().split('\n')).toEqual([expect.stringContaining(`"id"`) as string]);

    const served = await fetch(`${router.url}/rtr.tgz`);
    expect(served.status).toBe(200);
    expect((await served.arrayBuffer()).byteLength).toBeGreaterThan(1e6);

    await router.stop();
    await expect(fetch(router.url)).rejects.toThrow();
    expect(readdirSync(join(home, 'work'))).toEqual([]);
  });

  it('keeps the data of a cluster in the folder of --data', async () => {
    const folder = join(home, 'other');
    const router = await up(['--data', folder]);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['cluster.json', 'redis', 'nats']));
    const [there, here] = [npx(['--data', folder, 'keys', 'list', '--json']), npx(['keys', 'list'])];
    expect([await there.ended, await here.ended]).toEqual([0, 1]);
    expect(there.out.trim().split('\n')).toEqual([expect.stringContaining(`"id"`) as string]);
    await router.stop();
  });

  it('builds nothing', async () => {
    const run = npx(['build']);
    expect(await run.ended).toBe(1);
    expect(run.err).toContain("unknown command 'build'");
  });
});
