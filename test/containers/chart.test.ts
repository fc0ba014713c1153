// @module-tag docker
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleFile, renderChart } from '../helpers/deploy/chart-tools.ts';
import type { Container, Rendered } from '../helpers/deploy/kubernetes-objects.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';
import { testImage } from '../helpers/compose/build-image.ts';
import { ComposeProject } from '../helpers/compose/compose-project.ts';
import { podsAsServices } from './pods-as-services.ts';
import { docker, runCommand } from '../helpers/compose/run-command.ts';

const natsConfig = `
http: 8222
jetstream { store_dir: /tmp/jetstream }
include nats-auth.conf
`;

/** The pods of the chart's small example, run as containers with exactly what their specifications give them. */
describe("the chart's pods", { tags: ['chart-tools'] }, () => {
  const folder = useFolder();
  const file = join(folder, 'compose.json');
  const compose = new ComposeProject({ name: `rtr-chart-${randomBytes(4).toString('hex')}`, port: 0, file });
  let objects: Rendered[];

  beforeAll(async () => {
    const [repository = '', tag = ''] = testImage.split(':');
    const settings = [`image.repository=${repository}`, `image.tag=${tag}`, 'ingress.service.port=8484'];
    ({ objects } = await renderChart('-f', exampleFile('small'), ...settings.flatMap((setting) => ['--set', setting])));
    const trust = join(folder, 'trust');
    await runCommand(process.execPath, ['services/rtr/main.ts', 'credentials', 'init', '--out', trust]);
    const password = randomBytes(16).toString('hex');
    keep('rtr-redis', { url: `redis://default:${password}@redis:6379\n` });
    for (const part of ['ingress', 'runner', 'gpu', 'tools'])
      keep(`rtr-nats-${part}`, { [`${part}.creds`]: readFileSync(join(trust, `${part}.creds`), 'utf8') });
    keep('nats', { 'nats.conf': natsConfig, 'nats-auth.conf': readFileSync(join(trust, 'nats-auth.conf'), 'utf8') });
    const services = {
      ...podsAsServices(objects, { folder, namespace: 'llm' }),
      nats: {
        image: 'nats:2.12-alpine',
        command: ['--config', '/config/nats.conf'],
        volumes: [`${join(folder, 'nats')}:/config:ro`],
      },
      redis: { image: 'redis:8-alpine', command: ['redis-server', '--requirepass', password] },
    };
    writeFileSync(file, JSON.stringify({ services }));
    await compose.up();
  });
  afterAll(() => compose.down());

  it('become ready by their own probes, and answer their liveness probes', async () => {
    const probed = objects.flatMap(({ kind, metadata, spec }) => {
      const [main] = spec?.template?.spec.containers ?? [];
      return kind === 'Deployment' && main ? [{ name: metadata.name, main }] : [];
    });
    expect(probed).toHaveLength(4);
    for (const { name, main } of probed) {
      const container = await compose.container(name);
      for (const path of probedPaths(main)) {
        const script = `fetch('http://127.0.0.1:8485${path}').then(({ status }) => console.log(status))`;
        expect(await docker('exec', container, 'node', '-e', script), `${name} ${path}`).toBe('200\n');
      }
    }
  });

  it('create a key, serve with it, and pass the test of the chart', async () => {
    const setup = await compose.run('run', '--rm', 'rtr-model-router-setup');
    const apiKey = /rtr_\w+_\w+/.exec(setup)?.[0];
    expect(setup).toContain('to become the first administrator');

    const address = await compose.address(await compose.container('rtr-model-router-ingress'), 'default');
    const client = new OpenAI({ baseURL: `http://${address}:8484/api/openai/v1`, apiKey: apiKey ?? '' });
    const messages = [{ role: 'user' as const, content: 'Hello!' }];
    const answer = await client.chat.completions.create({ model: 'auto', messages });
    expect(answer.choices[0]?.message.content).toBeTruthy();

    const health = await compose.run('run', '--rm', 'rtr-model-router-test');
    expect(health).toContain('"status":"ok"');
    expect(health).toContain('"gpu":1');
  });

  /** Writes the content of a Secret or ConfigMap, readable for the containers' user. */
  function keep(name: string, keys: Record<string, string>): void {
    mkdirSync(join(folder, name));
    for (const [key, value] of Object.entries(keys)) writeFileSync(join(folder, name, key), value, { mode: 0o644 });
  }
});

function probedPaths({ startupProbe, readinessProbe, livenessProbe }: Container): Set<string> {
  return new Set([startupProbe, readinessProbe, livenessProbe].flatMap((probe) => probe?.httpGet.path ?? []));
}
