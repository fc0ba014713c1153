import { globSync, readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig, type Environment } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { createAdminServer } from '#shared/core/admin-server.ts';
import { parseRegistry } from '#shared/registry/read-registry.ts';
import { demoEngineSettings } from '#services/demo-engine/config.ts';
import { ingressConfig } from '#services/ingress/config.ts';
import { computeLoad } from '#services/ingress/metrics/compute-load.ts';
import { linkSettings } from '#services/rtr/config.ts';
import { definedMetrics } from '../../helpers/cluster/metric-registries.ts';
import { exampleFile, examples, renderChart, withIngress } from '../../helpers/deploy/chart-tools.ts';
import type { Container, Metadata, PodSpec, Rendered } from '../../helpers/deploy/kubernetes-objects.ts';
import { chooses } from '../../helpers/deploy/network-policies.ts';
import { runCommand } from '../../helpers/processes/run-command.ts';
import { serveInTest } from '../../helpers/servers/serve-http.ts';
import { commonSettings, plainSettings, workerConfigs } from './chart-settings.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';

interface Pod {
  /** Name of the object that creates it. */
  name: string;
  metadata: Metadata;
  spec: PodSpec;
}

const defaults = loadConfig(ingressConfig, {});
/** A file, and what its form has besides. */
const maxBodyMiB = defaults.FILE_MAX_BYTES / 1024 ** 2 + 8;
const totalTimeoutSeconds = defaults.TOTAL_TIMEOUT_MS / 1000;

describe('the rendered objects of the chart', { tags: ['chart-tools'] }, () => {
  let rendered: Record<string, Rendered[]>;
  beforeAll(async () => {
    const render = async (name: string) => [name, (await renderChart('-f', exampleFile(name))).objects] as const;
    rendered = Object.fromEntries(await Promise.all(examples.map(render)));
  });
  const objects = (example: string): Rendered[] => rendered[example] ?? [];
  const ofKind = (example: string, kind: string): Rendered[] => objects(example).filter((each) => each.kind === kind);
  const everything = (): Rendered[] => examples.flatMap(objects);
  const everyPod = (): Pod[] => everything().flatMap(podsOf);
  const everyContainer = (): { pod: Pod; container: Container }[] =>
    everyPod().flatMap((pod) => containersOf(pod).map((container) => ({ pod, container })));

  it('give every part settings that it has, with valid values', () => {
    for (const { pod, container } of everyContainer()) {
      const config = configOf(container);
      if (!config) continue;
      const environment = environmentOf(container);
      for (const name of Object.keys(environment)) expect(knownNames(config), pod.name).toContain(name);
      expect(() => loadConfig(config, withSecretsRead(environment)), pod.name).not.toThrow();
    }
  });

  it('give the ingress what the registry names as variables, from existing Secrets', async () => {
    const company = 'ingress.secretEnv={"COMPANY_SECRET":{"name":"company","key":"secret"}}';
    const { objects: rendered } = await renderChart('-f', exampleFile('small'), '--set-json', company);
    const containers = rendered.flatMap(podsOf).flatMap(containersOf);
    const given = containers.filter(({ env }) => env?.some(({ name }) => name === 'COMPANY_SECRET'));
    expect(given.map(({ name }) => name)).toEqual(['ingress']);
    const valueFrom = { secretKeyRef: { name: 'company', key: 'secret' } };
    expect(given[0]?.env).toContainEqual({ name: 'COMPANY_SECRET', valueFrom });
  });

  it('start only existing commands', async () => {
    const given = everyContainer().map(({ container: { args } }) => (isOurs(args) ? args.join(' ') : ''));
    const commands = [...new Set(given)].filter((command) => command !== '').toSorted();
    const workers = ['worker batch', 'worker cloud', 'worker gpu', 'worker tools'];
    expect(commands).toEqual(['demo-engine', 'ingress', 'setup', ...workers]);
    const help = runCommand(process.execPath, ['services/rtr/main.ts', '--help'], { cwd: process.cwd() });
    expect(await help.ended).toBe(0);
    for (const [command = '', kind] of commands.map((each) => each.split(' '))) {
      expect(help.out).toMatch(new RegExp(`^  ${command} `, 'm'));
      if (kind !== undefined) expect([...tiers, 'batch']).toContain(kind);
    }
  });

  it('listen where ports, probes and Services point', () => {
    const listening: Record<string, string> = { http: 'PORT', admin: 'ADMIN_PORT' };
    for (const { pod, container } of everyContainer()) {
      const environment = environmentOf(container);
      for (const { name, containerPort } of container.ports ?? [])
        expect(environment[listening[name] ?? ''], pod.name).toBe(String(containerPort));
      for (const probe of probesOf(container))
        expect((container.ports ?? []).map(({ name }) => name)).toContain(probe.httpGet.port);
    }
    for (const example of examples)
      for (const service of ofKind(example, 'Service')) {
        const pods = podsChosenBy(example, { matchLabels: service.spec.selector as Record<string, string> });
        expect(pods.length, service.metadata.name).toBe(1);
        const names = pods.flatMap(containersOf).flatMap(({ ports = [] }) => ports.map(({ name }) => name));
        for (const { targetPort } of service.spec.ports ?? []) expect(names).toContain(targetPort);
      }
  });

  it('probe paths that an admin port answers', async () => {
    const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
    const [health, further] = [() => ({ ready: true, facts: {} }), { '/load': () => ({}) }];
    const admin = createAdminServer({ log, registry: new Registry(), health, otherPages: further });
    const url = await serveInTest((request, response) => admin.emit('request', request, response));
    const probes = everyContainer().flatMap(({ container }) => probesOf(container));
    const monitors = everything().flatMap(endpointsOf);
    const paths = new Set([...probes.map(({ httpGet }) => httpGet.path), ...monitors.map(({ path }) => path)]);
    expect(paths).toEqual(new Set(['/live', '/health', '/metrics']));
    for (const path of paths) expect((await fetch(`${url}${path}`)).status, path).toBe(200);
  });

  it('select existing pods', () => {
    for (const example of examples) {
      for (const { kind, metadata, spec } of objects(example)) {
        const selectors = [
          ['Deployment', 'PodDisruptionBudget', 'PodMonitor'].includes(kind) && spec.selector,
          kind === 'NetworkPolicy' && spec.podSelector,
          ...podsOf({ kind, metadata, spec }).flatMap(({ spec: { topologySpreadConstraints = [] } }) =>
            topologySpreadConstraints.map(({ labelSelector }) => labelSelector),
          ),
        ];
        for (const selector of selectors)
          if (selector) expect(podsChosenBy(example, selector).length, `${kind} ${metadata.name}`).toBeGreaterThan(0);
      }
      for (const { spec } of ofKind(example, 'ServiceMonitor')) {
        const isChosen = ({ metadata }: Rendered) => chooses(spec.selector ?? {}, metadata.labels ?? {});
        const ports = ofKind(example, 'Service')
          .filter(isChosen)
          .map((service) => service.spec.ports);
        expect(ports).toMatchObject([[{ name: 'admin' }]]);
      }
    }
  });

  it('allow one pod of a group at most to be evicted at a time', () => {
    const oneAtMost = ({ selector }: Rendered['spec']) => ({ maxUnavailable: 1, selector });
    for (const example of examples) {
      const budgets = ofKind(example, 'PodDisruptionBudget').map(({ metadata, spec }) => [metadata.name, spec]);
      for (const { metadata, spec } of ofKind(example, 'Deployment'))
        expect(Object.fromEntries(budgets)[metadata.name]).toMatchObject(oneAtMost(spec));
    }
  });

  it('have one owner for every pod: no two Deployments select the same', () => {
    for (const example of examples)
      for (const { metadata, spec } of ofKind(example, 'Deployment'))
        expect(podsChosenBy(example, spec.selector ?? {}).map(({ name }) => name)).toEqual([metadata.name]);
  });

  it('scale existing Deployments, and do not fix their number of replicas as well', () => {
    for (const example of examples)
      for (const { spec } of [...ofKind(example, 'ScaledObject'), ...ofKind(example, 'HorizontalPodAutoscaler')]) {
        const name = spec.scaleTargetRef?.name;
        const target = ofKind(example, 'Deployment').find(({ metadata }) => metadata.name === name);
        expect(target?.spec).toBeDefined();
        expect(target?.spec.replicas).toBeUndefined();
      }
    expect(ofKind('scale-to-zero', 'ScaledObject').map(({ spec }) => spec.minReplicaCount)).toEqual([0]);
  });

  it('read the load of the scaled tier from the ingress', () => {
    for (const example of ['production', 'scale-to-zero']) {
      for (const { metadata, spec } of ofKind(example, 'ScaledObject')) {
        const tier = metadata.name.endsWith('-qwen') ? 'gpu' : 'cloud';
        expect(spec.advanced?.scalingModifiers.formula).toBe('waiting + busy');
        const places = spec.triggers?.map(({ name, metadata }) => `${name}: ${metadata['valueLocation']}`);
        expect(places).toEqual([`waiting: tiers.${tier}.waiting`, `busy: tiers.${tier}.busy`]);
        for (const { metadata } of spec.triggers ?? []) {
          const url = new URL(metadata['url'] ?? '');
          const [name, namespace] = url.hostname.split('.');
          const service = ofKind(example, 'Service').find((each) => each.metadata.name === name);
          expect(service?.spec.ports?.map(({ port }) => String(port))).toEqual([url.port]);
          expect(namespace).toBe('llm');
          expect(url.pathname).toBe('/load');
          const answer: unknown = computeLoad([{ waitingByTier: {} }], []);
          expect(valueAt(answer, metadata['valueLocation'] ?? '')).toBe(0);
        }
      }
    }
  });

  it('give the batch runner every setting of the ingress that it has, too', async () => {
    const both = plainSettings('ingress').filter((name) => plainSettings('batch').includes(name));
    const own = both.filter((name) => !commonSettings().includes(name));
    expect(own.length).toBeGreaterThan(15);
    const settings = Object.fromEntries(own.map((name) => [name, '7']));
    const args = ['-f', exampleFile('small'), '--set-json', `ingress.settings=${JSON.stringify(settings)}`];
    const { objects } = await renderChart(...args);
    const runner = objects.flatMap(podsOf).filter(({ name }) => name.endsWith('-batch-runner'));
    expect(runner.flatMap(containersOf).map(environmentOf)).toMatchObject([settings]);
  });

  it('scale the ingress by a metric that it exports', () => {
    const hpas = ofKind('production', 'HorizontalPodAutoscaler');
    const hpa = hpas.find(({ metadata }) => metadata.name.endsWith('-ingress'));
    const name = hpa?.spec.metrics?.find(({ pods }) => pods)?.pods?.metric.name ?? '';
    expect(definedMetrics('ingress').map((metric) => metric.name)).toContain(name);
    expect(readFileSync('deploy/kubernetes/servers/prometheus-adapter.yaml', 'utf8')).toContain(`'${name}{`);
  });

  it('include the alerts and dashboards, for the jobs that they refer to', () => {
    const [rule] = ofKind('production', 'PrometheusRule');
    const alerts = readFileSync('deploy/observability/alerts.yml', 'utf8');
    expect(rule?.spec).toEqual(parse(alerts));
    const jobs = new Set([...alerts.matchAll(/job="([\w-]+)"/g)].map(([, job]) => job));
    const monitors = [...ofKind('production', 'ServiceMonitor'), ...ofKind('production', 'PodMonitor')];
    const relabelings = monitors.flatMap(endpointsOf).flatMap((endpoint) => endpoint.relabelings ?? []);
    for (const job of jobs) expect(relabelings.map(({ replacement }) => replacement)).toContain(job);
    const isDashboard = ({ metadata }: Rendered) => metadata.labels?.['grafana_dashboard'] !== undefined;
    const dashboards = ofKind('production', 'ConfigMap').filter(isDashboard);
    expect(dashboards.length).toBe(globSync('deploy/observability/grafana/dashboards/*.json').length);
    for (const { data = {} } of dashboards)
      for (const text of Object.values(data)) expect(JSON.parse(text)).toHaveProperty('panels');
  });

  it('are refused with scaling to zero while requests would not wait for a pod', async () => {
    const scaling = 'workers.demo.autoscaling={"enabled":true,"minReplicas":0}';
    const chart = renderChart('-f', exampleFile('small'), '--set-json', scaling);
    await expect(chart).rejects.toThrow('set ingress.settings.NO_WORKER_TIMEOUT_MS');
  });

  it('have a grace period longer than leaving and the drain', () => {
    for (const { pod, container } of everyContainer()) {
      const { DRAIN_MS, LEAVE_MS = 0 } = environmentOf(container);
      const stopSeconds = (Number(LEAVE_MS) + Number(DRAIN_MS)) / 1000;
      if (DRAIN_MS !== undefined) expect(pod.spec.terminationGracePeriodSeconds, pod.name).toBeGreaterThan(stopSeconds);
    }
  });

  it('meet the restricted Pod Security Standard, without a token for the API server', () => {
    const securityContext = { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } };
    const capabilities = { drop: ['ALL'] };
    const ofContainer = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities };
    for (const { pod, container } of everyContainer()) {
      expect(pod.spec).toMatchObject({ automountServiceAccountToken: false, securityContext });
      expect(container.securityContext, `${pod.name} ${container.name}`).toEqual(ofContainer);
    }
  });

  it('limit the memory of every container of the router', () => {
    for (const { pod, container } of everyContainer())
      expect(container.resources?.limits?.['memory'], `${pod.name} ${container.name}`).toBeDefined();
  });

  it('mount every file that a setting names, and every volume once', () => {
    for (const { pod, container } of everyContainer()) {
      const volumes = new Map((pod.spec.volumes ?? []).map((volume) => [volume.name, volume]));
      expect(volumes.size, pod.name).toBe(pod.spec.volumes?.length ?? 0);
      const files = (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
        const volume = volumes.get(name);
        expect(volume, `${pod.name} ${name}`).toBeDefined();
        const inside = volume?.secret?.items.map(({ path }) => path) ?? (volume?.configMap ? ['router.yaml'] : []);
        return inside.map((path) => `${mountPath}/${path}`);
      });
      const named = Object.values(environmentOf(container)).filter((value) => value?.startsWith('/etc/rtr/'));
      expect(new Set(named), pod.name).toEqual(new Set(files));
    }
  });

  it('contain no secret: each comes from an existing Secret', () => {
    for (const { kind } of everything()) expect(kind).not.toBe('Secret');
    for (const { pod, container } of everyContainer())
      for (const [name, value] of Object.entries(environmentOf(container))) {
        expect(name, pod.name).not.toMatch(/(KEY|PASSWORD|TOKEN|SECRET)$/);
        expect(value, `${pod.name} ${name}`).not.toMatch(/:\/\/[^/]*@/);
      }
  });

  it('give the router a readable file of names and rules', () => {
    for (const example of ['production', 'scale-to-zero']) {
      const file = ofKind(example, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-config'));
      const { models } = parseRegistry(file?.data?.['router.yaml'] ?? '', 'router.yaml');
      expect(Object.keys(models)).toHaveLength(1);
    }
  });

  it('route clients of the gateway to the router, without a timeout', () => {
    const [route] = ofKind('production', 'HTTPRoute');
    const [rule] = route?.spec.rules ?? [];
    expect(rule?.timeouts).toEqual({ request: '0s', backendRequest: '0s' });
    for (const { name, port } of rule?.backendRefs ?? []) {
      const service = ofKind('production', 'Service').find(({ metadata }) => metadata.name === name);
      expect(service?.spec.ports).toMatchObject([{ name: 'http', port }]);
    }
  });

  it('keep an Ingress from buffering or timing out streams, and from refusing large bodies', async () => {
    const { objects } = await renderChart('-f', exampleFile('small'), ...withIngress);
    const ingress = objects.find(({ kind }) => kind === 'Ingress');
    expect(ingress?.metadata.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-body-size': `${maxBodyMiB}m`,
      'nginx.ingress.kubernetes.io/proxy-read-timeout': String(totalTimeoutSeconds),
    });
    const paths = [{ backend: { service: { name: 'rtr-model-router' } } }];
    const rules = [{ host: 'llm.example.com', http: { paths } }];
    expect(ingress?.spec).toMatchObject({ tls: [{ hosts: ['llm.example.com'], secretName: 'llm-tls' }], rules });
  });

  it('stop an engine after the worker beside it, and start none before the old one has stopped', () => {
    const deployment = ofKind('scale-to-zero', 'Deployment').find(({ metadata }) => metadata.name.endsWith('-qwen'));
    expect(deployment?.spec.strategy?.rollingUpdate).toEqual({ maxUnavailable: 1, maxSurge: 0 });
    expect(deployment?.spec.template?.spec.initContainers).toMatchObject([{ name: 'engine', restartPolicy: 'Always' }]);
  });

  function podsChosenBy(example: string, selector: Parameters<typeof chooses>[0]): Pod[] {
    return objects(example)
      .flatMap(podsOf)
      .filter(({ metadata }) => chooses(selector, metadata.labels ?? {}));
  }
});

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value);
}

function podsOf({ kind, metadata, spec }: Rendered): Pod[] {
  if (kind === 'Pod') return [{ name: metadata.name, metadata, spec }];
  return spec?.template ? [{ name: metadata.name, ...spec.template }] : [];
}

function containersOf({ spec }: Pod): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
}

function probesOf({ startupProbe, readinessProbe, livenessProbe }: Container) {
  return [startupProbe, readinessProbe, livenessProbe].filter((probe) => probe !== undefined);
}

function endpointsOf({ spec }: Rendered) {
  return [...(spec?.endpoints ?? []), ...(spec?.podMetricsEndpoints ?? [])];
}

function environmentOf({ env = [] }: Container): Environment {
  return Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, valueFrom ? 'rtr-worker-0' : value]));
}

/** Whether these are arguments of the router's image. */
function isOurs(args: readonly string[] | undefined): args is readonly string[] {
  return args !== undefined && !args.some((arg) => arg.startsWith('-'));
}

/** The settings of a container's command; undefined when it is not the router's. */
function configOf({ args }: Container) {
  if (!isOurs(args)) return undefined;
  const [command, tier] = args;
  if (command === 'worker') return workerConfigs[tier as Tier | 'batch'];
  return { ingress: ingressConfig, setup: linkSettings, 'demo-engine': demoEngineSettings }[command ?? ''];
}

/** A secret may be given as the path of a file. */
function knownNames({ shape }: { shape: object }): string[] {
  return Object.keys(shape).flatMap((name) => [name, `${name}_FILE`]);
}

/** Replaces the files of secrets by sample values; their content is not the chart's. */
function withSecretsRead(environment: Environment): Environment {
  const contents: Environment = {
    REDIS_URL_FILE: 'redis://redis:6379',
    ENGINE_API_KEY_FILE: 'key',
    PROVIDER_KEY_FILE: 'key',
    SEAL_SECRET_FILE: 'a passphrase of 32 characters or more',
    FILES_S3_ACCESS_KEY_ID_FILE: 'key',
    FILES_S3_SECRET_ACCESS_KEY_FILE: 'key',
  };
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) =>
      name.endsWith('_FILE') ? [name.slice(0, -'_FILE'.length), contents[name]] : [name, value],
    ),
  );
}
