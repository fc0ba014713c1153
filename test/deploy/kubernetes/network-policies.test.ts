import { beforeAll, describe, expect, it } from 'vitest';
import { exampleFile, renderChart } from '../../helpers/deploy/chart-tools.ts';
import type { Rendered } from '../../helpers/deploy/kubernetes-objects.ts';
import { letsThrough, type Peer, type Port } from '../../helpers/deploy/network-policies.ts';

const http: Port = { number: 8484, name: 'http' };
const admin: Port = { number: 8485, name: 'admin' };
const nats: Port = { number: 4222 };
const redis: Port = { number: 6379 };
const https: Port = { number: 443 };
const names: Port = { number: 53, protocol: 'UDP' };

const elsewhere = (namespace: string, labels: Record<string, string> = {}): Peer => ({ namespace, labels });

describe("the chart's network policies", { tags: ['chart-tools'] }, () => {
  let policies: Rendered[];
  let objects: Rendered[];
  beforeAll(async () => {
    ({ objects } = await renderChart('-f', exampleFile('production')));
    policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  });

  /** A pod of the release, by component or by group of workers. */
  function pod(component: string): Peer {
    const isIt = ({ labels = {} }: { labels?: Record<string, string> }): boolean =>
      labels['model-router/worker'] === component || labels['app.kubernetes.io/component'] === component;
    const [labels] = objects.flatMap(({ kind, metadata, spec }) => {
      const found = kind === 'Pod' ? metadata : spec?.template?.metadata;
      return found && isIt(found) ? [found.labels as Record<string, string>] : [];
    });
    if (!labels) throw new Error(`there is no pod ${component}`);
    return { namespace: 'llm', labels };
  }

  const parts = {
    ingress: () => pod('ingress'),
    'the batch runner': () => pod('batch-runner'),
    'the GPU worker': () => pod('qwen'),
    'the cloud worker': () => pod('openai'),
    'the tools worker': () => pod('tools'),
    setup: () => pod('setup'),
    test: () => pod('test'),
    gateway: () => elsewhere('gateway'),
    Prometheus: () => elsewhere('monitoring'),
    KEDA: () => elsewhere('keda'),
    NATS: () => elsewhere('nats'),
    Redis: () => elsewhere('valkey'),
    'the S3 store': () => elsewhere('storage'),
    DNS: () => elsewhere('kube-system'),
    vLLM: () => elsewhere('models', { app: 'vllm-qwen' }),
    'another engine': () => elsewhere('models', { app: 'other' }),
    'a stranger': () => elsewhere('default'),
    'a neighbour': () => elsewhere('llm', { app: 'other' }),
    'the internet': () => ({ address: '104.18.6.192' }),
    "the cloud's metadata": () => ({ address: '169.254.169.254' }),
    "a machine of the cluster's network": () => ({ address: '10.1.2.3' }),
  } satisfies Record<string, () => Peer>;
  type Part = keyof typeof parts;

  it.each<[Part, Part, Port]>([
    ['gateway', 'ingress', http],
    ['test', 'ingress', http],
    ['Prometheus', 'ingress', admin],
    ['KEDA', 'ingress', admin],
    ['Prometheus', 'the GPU worker', admin],
    ['ingress', 'NATS', nats],
    ['the GPU worker', 'NATS', nats],
    ['the cloud worker', 'NATS', nats],
    ['the tools worker', 'NATS', nats],
    ['setup', 'NATS', nats],
    ['ingress', 'Redis', redis],
    ['setup', 'Redis', redis],
    ['ingress', 'the S3 store', https],
    ['Prometheus', 'the batch runner', admin],
    ['the batch runner', 'NATS', nats],
    ['the batch runner', 'Redis', redis],
    ['the batch runner', 'the S3 store', https],
    ['the batch runner', 'the internet', https],
    ['ingress', 'DNS', names],
    ['the GPU worker', 'DNS', names],
    ['test', 'DNS', names],
    ['the GPU worker', 'vLLM', { number: 8000 }],
    ['the cloud worker', 'the internet', https],
    ['the tools worker', 'the internet', https],
  ])('let %s reach %s', (from, to, port) => {
    expect(letsThrough(policies, 'llm', parts[from](), parts[to](), port)).toBe(true);
  });

  it.each<[Part, Part, Port]>([
    ['a stranger', 'ingress', http],
    ['a neighbour', 'ingress', http],
    ['gateway', 'ingress', admin],
    ['a stranger', 'ingress', admin],
    ['the GPU worker', 'ingress', http],
    ['the GPU worker', 'ingress', admin],
    ['KEDA', 'the GPU worker', admin],
    ['gateway', 'the GPU worker', admin],
    ['ingress', 'the GPU worker', admin],
    ['the GPU worker', 'the cloud worker', admin],
    ['the GPU worker', 'Redis', redis],
    ['the cloud worker', 'Redis', redis],
    ['the tools worker', 'Redis', redis],
    ['test', 'Redis', redis],
    ['test', 'NATS', nats],
    ['ingress', 'the internet', https],
    ['gateway', 'the batch runner', admin],
    ['the batch runner', 'ingress', http],
    ['the batch runner', "the cloud's metadata", { number: 80 }],
    ['the batch runner', "a machine of the cluster's network", https],
    ['the GPU worker', 'the S3 store', https],
    ['setup', 'the S3 store', https],
    ['the GPU worker', 'the internet', https],
    ['setup', 'the internet', https],
    ['the GPU worker', 'another engine', { number: 8000 }],
    ['the GPU worker', 'vLLM', { number: 22 }],
    ['the tools worker', "the cloud's metadata", { number: 80 }],
    ['the tools worker', "a machine of the cluster's network", https],
    ['the cloud worker', 'the internet', { number: 25 }],
    ['ingress', 'NATS', { number: 8222 }],
    ['ingress', 'a stranger', nats],
  ])('do not let %s reach %s', (from, to, port) => {
    expect(letsThrough(policies, 'llm', parts[from](), parts[to](), port)).toBe(false);
  });

  it('let a batch runner reach a mail server if it has the address of one', async () => {
    const reaches = async (...args: string[]): Promise<unknown[]> => {
      const { objects } = await renderChart('-f', exampleFile('small'), ...args);
      const runners = objects.filter(({ metadata }) => metadata.name.endsWith('-batch-runner'));
      const specOf = (wanted: string) => runners.find(({ kind }) => kind === wanted)?.spec;
      const [{ env = [] } = {}] = specOf('Deployment')?.template?.spec.containers ?? [];
      const ports = specOf('NetworkPolicy')?.egress?.[0]?.ports?.map(({ port }) => port);
      return [ports, env.some(({ name }) => name === 'SMTP_URL_FILE')];
    };
    expect(await reaches()).toEqual([[80, 443], false]);
    const smtp = '{"SMTP_URL":{"name":"smtp","key":"url"}}';
    expect(await reaches('--set-json', `batchRunner.secrets=${smtp}`)).toEqual([[80, 443, 465, 587], true]);
  });

  it('let only those reach the S3 store that keep files in it', async () => {
    const keep = '{"FILES_S3_BUCKET":"files"}';
    const chosen = async (...args: string[]): Promise<unknown> => {
      const { objects } = await renderChart('-f', exampleFile('small'), ...args);
      const policy = objects.find(({ metadata }) => metadata.name.endsWith('-s3'));
      return policy?.spec.podSelector?.matchExpressions?.map(({ values }) => values);
    };
    expect(await chosen()).toBeUndefined();
    expect(await chosen('--set-json', `ingress.settings=${keep}`)).toEqual([['ingress', 'batch-runner']]);
    expect(await chosen('--set-json', `batchRunner.settings=${keep}`)).toEqual([['batch-runner']]);
    const ingressAlone = ['--set-json', `ingress.settings=${keep}`, '--set', 'batchRunner.enabled=false'];
    expect(await chosen(...ingressAlone)).toEqual([['ingress']]);
  });
});
