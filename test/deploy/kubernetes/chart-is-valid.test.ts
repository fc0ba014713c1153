import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { version } from '#shared/core/version.ts';
import { parse } from 'yaml';
import {
  chartFolder,
  chartTools,
  exampleFile,
  examples,
  renderChart,
  runChartTool,
  withIngress,
} from '../../helpers/deploy/chart-tools.ts';
import { schemaPath, writeKubernetesSchemas } from '../../helpers/deploy/kubernetes-schemas.ts';
import { valuesSchema, valuesSchemaText } from './values-schema.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const readYaml = (file: string): unknown => parse(readFileSync(file, 'utf8'));

/** `name=text` with the text as JSON, numbers unquoted. */
function asJson(setting: string): string {
  const [name = '', value = ''] = setting.split('=');
  return `${name}=${/^[0-9.]+$/.test(value) ? value : JSON.stringify(value)}`;
}

describe('the chart', () => {
  it('has a values schema that matches the settings of the services (else run `npm run chart`)', () => {
    expect(readFileSync(join(chartFolder, 'values.schema.json'), 'utf8')).toBe(valuesSchemaText());
  });

  it('has values that match the schema', () => {
    expect(() => valuesSchema.parse(readYaml(join(chartFolder, 'values.yaml')))).not.toThrow();
  });

  it('has the version that it installs', () => {
    expect(readYaml(join(chartFolder, 'Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});

describe('the chart, by its tools', { tags: ['chart-tools'] }, () => {
  const folder = useFolder();
  beforeAll(() => writeKubernetesSchemas(chartTools ?? '', folder));

  const cases = [
    ...examples.map((name) => ({ name, args: ['-f', exampleFile(name)] })),
    { name: 'everything at once', args: [...examples.flatMap((name) => ['-f', exampleFile(name)]), ...withIngress] },
  ];

  it.each(cases)('passes helm lint: $name', async ({ args }) => {
    const result = await runChartTool('helm', ['lint', '--strict', '--quiet', chartFolder, ...args]);
    expect(result).toMatchObject({ succeeded: true, out: '' });
  });

  it.each(cases)('renders only valid Kubernetes objects: $name', async ({ args }) => {
    const { text, objects } = await renderChart(...args);
    const found = await validate(text);
    expect(found.resources ?? []).toEqual([]);
    // None was skipped for want of a schema.
    expect(found.summary).toEqual({ valid: objects.length, invalid: 0, errors: 0, skipped: 0 });
    expect(objects.length).toBeGreaterThan(10);
  });

  it.each([
    ['a setting that does not exist', 'workers.demo.settings.SLOTSS=3', 'SLOTSS'],
    ['a setting of another tier', 'workers.demo.settings.CLI_KIND=claude', 'CLI_KIND'],
    ['a setting that the chart makes itself', 'ingress.settings.PORT=80', 'PORT'],
    ['a secret in plain', 'workers.demo.settings.ENGINE_API_KEY=sk-1', 'ENGINE_API_KEY'],
    ['a password in an address', 'nats.url=nats://rtr:secret@nats:4222', '/nats/url'],
    ['a fraction', 'workers.demo.settings.SLOTS=1.5', '/settings/SLOTS'],
    ['a tier that does not exist', 'workers.demo.tier=tpu', '/tier'],
    ['a name that is none', 'workers.Demo_1.tier=gpu', 'Demo_1'],
    ['a value that does not exist', 'ingres.replicas=3', 'ingres'],
  ])('refuses %s', async (_, wrong, message) => {
    await expect(renderChart('-f', exampleFile('small'), '--set-json', asJson(wrong))).rejects.toThrow(message);
  });

  it('names what is missing when no values are set', async () => {
    await expect(renderChart()).rejects.toThrow('redis.urlSecret or redis.url must say where Redis is');
  });

  it('is found invalid with an unknown field', async () => {
    const { text } = await renderChart('-f', exampleFile('small'));
    const found = await validate(text.replace('terminationGracePeriodSeconds', 'terminationGraceSeconds'));
    expect(found.summary).toMatchObject({ invalid: 1 });
  });

  async function validate(text: string): Promise<{ resources?: unknown[]; summary: object }> {
    const file = join(folder, 'rendered.yaml');
    writeFileSync(file, text);
    const args = ['-strict', '-summary', '-output', 'json', '-schema-location', join(folder, schemaPath), file];
    const { out } = await runChartTool('kubeconform', args);
    return JSON.parse(out) as { resources?: unknown[]; summary: object };
  }
});
