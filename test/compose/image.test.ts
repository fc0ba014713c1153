// @module-tag docker
import { inject, afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ComposeProject } from '../helpers/compose/compose-project.ts';
import { containerLogs, docker } from '../helpers/compose/run-command.ts';
import { report } from '../helpers/compose/report.ts';
import { until } from '../helpers/until.ts';

const mebibyte = 1024 * 1024;
const confined = ['--read-only', '--cap-drop', 'ALL', '--user', '1000', '--tmpfs', '/tmp'];
const compose = new ComposeProject(inject('composeOptions'));
let image: string;
const started: string[] = [];
beforeAll(async () => {
  const engine = await compose.container('demo-engine');
  image = (await docker('inspect', '--format', '{{.Config.Image}}', engine)).trim();
});
afterAll(async () => {
  if (started.length > 0) await docker('rm', '--force', ...started);
});

/** Starts a single part in a fully restricted container beside the cluster; resolves when its log contains this text. */
async function start(words: readonly string[], ready: string, env: readonly string[] = []): Promise<string> {
  const settings = ['NATS_URL_FILE=/secrets/nats-url', 'NATS_CREDENTIALS=/secrets/nats.creds', ...env].flatMap(
    (setting) => ['--env', setting],
  );
  const place = ['--network', `${compose.name}_workers`, '--volume', `${compose.name}_tools-secrets:/secrets:ro`];
  const id = (await docker('run', '--detach', ...confined, ...place, ...settings, image, ...words)).trim();
  started.push(id);
  await until(async () => expect(await containerLogs(id)).toContain(ready));
  return id;
}

/** Milliseconds from the start of a part's container until its log line `ready`. */
async function startTime(words: readonly string[], ready: string, env: readonly string[] = []): Promise<number> {
  const id = await start(words, ready, env);
  const began = Date.parse((await docker('inspect', '--format', '{{.State.StartedAt}}', id)).trim());
  const line = (await containerLogs(id)).split('\n').find((text) => text.includes(ready)) ?? '{}';
  await docker('rm', '--force', id);
  return (JSON.parse(line) as { time: number }).time - began;
}

describe('the image', () => {
  it('is below 250 MB, runs as one unprivileged user, and carries its labels', async () => {
    const [{ Size, Config }] = JSON.parse(await docker('image', 'inspect', image)) as [
      { Size: number; Config: { User: string; Labels: Record<string, string>; Healthcheck?: object } },
    ];
    report(`image: ${(Size / 1e6).toFixed(0)} MB`);
    expect(Size).toBeLessThan(250e6);
    expect(Config.User).toBe('1000:1000');
    expect(Config.Labels['org.opencontainers.image.title']).toBe('Model Router');
    expect(Config.Healthcheck).toBeDefined();
  });

  it('can load every package that its code imports, also those that are loaded late', async () => {
    const program = `
      import { globSync, readFileSync } from 'node:fs';
      import { isBuiltin } from 'node:module';
      const imports = /^import(?:[^'";]*?\\sfrom)?\\s*"([^."][^"]*)"|\\bimport\\("([^."][^"]*)"\\)/gm;
      const code = globSync('/app/dist/*.mjs').map((file) => readFileSync(file, 'utf8'));
      const names = code.flatMap((text) => [...text.matchAll(imports)].map(([, still, late]) => still ?? late));
      const packages = [...new Set(names)].filter((name) => !isBuiltin(name));
      for (const name of packages) await import(name);
      console.log(packages.join(' '));`;
    const inApp = ['--workdir', '/app', '--entrypoint', 'node'];
    const loaded = await docker('run', '--rm', ...inApp, image, '--input-type=module', '--eval', program);
    expect(loaded.trim().split(' ')).toEqual(expect.arrayContaining(['argon2', 'pino', 'pino-pretty']));
  });

  it('contains nothing that only builds or tests need', async () => {
    const list = await docker('run', '--rm', '--entrypoint', 'ls', image, '/app', '/app/node_modules');
    expect(list.split('\n')).toEqual(expect.arrayContaining(['dist', 'argon2']));
    for (const name of ['test', 'deploy', 'vite', 'rolldown', 'react', 'express', 'vitest', 'typescript']) {
      expect(list.split('\n')).not.toContain(name);
    }
    await expect(docker('run', '--rm', '--entrypoint', 'npm', image, '--version')).rejects.toThrow(/npm/);
  });

  it.each([
    { words: ['demo-engine'], ready: 'demo engine is ready' },
    { words: ['worker', 'tools'], ready: 'tools-worker is ready' },
  ])('runs $words.0 $words.1 read-only, without capabilities, and stops it at SIGTERM', async ({ words, ready }) => {
    const id = await start(words, ready);
    // Killed after that time, it would have another code.
    await docker('stop', '--time', '20', id);
    expect((await docker('inspect', '--format', '{{.State.ExitCode}}', id)).trim()).toBe('0');
  });

  it('names the invalid setting', async () => {
    await expect(docker('run', '--rm', ...confined, image, 'worker', 'gpu')).rejects.toThrow('NATS_URL');
  });

  it('uses its precompiled code, and starts sooner with it', async () => {
    const id = await start(['demo-engine'], 'demo engine is ready', ['NODE_DEBUG_NATIVE=COMPILE_CACHE']);
    expect((await containerLogs(id)).split('was accepted').length).toBeGreaterThan(5);
    const times = { with: Infinity, without: Infinity };
    // A busy machine adds to either: the least of up to five rounds counts.
    for (let round = 0; round < 5 && !(times.with < times.without); round += 1) {
      const part = [['worker', 'tools'], 'tools-worker is ready'] as const;
      times.with = Math.min(times.with, await startTime(...part));
      times.without = Math.min(times.without, await startTime(...part, ['NODE_DISABLE_COMPILE_CACHE=1']));
    }
    report(`start of a worker: ${times.with} ms, without compiled code ${times.without} ms`);
    expect(times.with).toBeLessThan(times.without);
  });
});

type HostConfig = { SecurityOpt: string[]; Memory: number };

it('the parts in their containers run without privileges, and only the load balancer is reachable from outside', async () => {
  for (const id of (await compose.run('ps', '--quiet')).split('\n').filter(Boolean)) {
    const [{ Name, Config, HostConfig, NetworkSettings }] = JSON.parse(await docker('inspect', id)) as [
      { Name: string; Config: object; HostConfig: HostConfig; NetworkSettings: { Ports: Record<string, unknown> } },
    ];
    expect(HostConfig, Name).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'], CapAdd: null });
    expect(HostConfig.SecurityOpt, Name).toContain('no-new-privileges:true');
    expect(Config, Name).toMatchObject({ User: '1000:1000' });
    expect(HostConfig.Memory, Name).toBeGreaterThan(128 * mebibyte);
    const published = Object.values(NetworkSettings.Ports).filter(Boolean).length;
    // The demo engine's port is published only for the tests of the SDKs.
    if (!Name.includes('-demo-engine-')) expect(published, Name).toBe(Name.includes('-lb-') ? 1 : 0);
  }
});

it('the parts in their containers cannot reach parts that they do not use', async () => {
  const reach = async (from: string, target: string): Promise<string> => {
    const script = `require('net').connect(${target}).on('connect',()=>{console.log('reached');process.exit()}).on('error',()=>{console.log('not');process.exit()});setTimeout(()=>{console.log('not');process.exit()},2000)`;
    return (await compose.run('exec', '-T', from, 'node', '-e', script)).trim();
  };
  const ways = [
    ['ingress', "6379,'redis'", 'reached'],
    ['worker-gpu', "4222,'nats'", 'reached'],
    ['worker-gpu', "6379,'redis'", 'not'],
    ['worker-gpu', "8484,'lb'", 'not'],
    ['worker-gpu', "8484,'ingress'", 'not'],
    ['worker-tools', "8485,'ingress'", 'not'],
    ['demo-engine', "4222,'nats'", 'not'],
    ['worker-tools', "8000,'demo-engine'", 'not'],
  ] as const;
  const seen = await Promise.all(ways.map(async ([from, to]) => [from, to, await reach(from, to)]));
  expect(seen).toEqual(ways);
});
