import { z } from 'zod';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { commonSettings, plainSettings, secretSettings } from './chart-settings.ts';

/*
 * The schema of the chart's values, from which values.schema.json is generated. It lists the settings of every part by name, so a
 * misspelled name is refused before the installation.
 */

/** Part of a Kubernetes object, passed on unchanged and validated there. */
const passedOn = z.record(z.string(), z.unknown());
const passedOnList = z.array(passedOn);
const labels = z.record(z.string(), z.string());
const positive = z.int().positive();
const natural = z.int().nonnegative();
const secretKey = z.strictObject({ name: z.string().min(1), key: z.string().min(1) });
const optionalSecretKey = z.union([z.strictObject({}), secretKey]);
const variable = z.string().regex(/^[A-Z_][A-Z0-9_]*$/);
/** An address without a password; passwords belong in secrets. */
const bareAddress = z.string().regex(/^[^@\s]*$/);

/** OpenTelemetry's own variables, settings of every part. */
const telemetry = 'OTEL_[A-Z0-9_]+';

function settings(names: readonly string[]) {
  const name = z.string().regex(new RegExp(`^(${[...names, telemetry].join('|')})$`));
  return z.record(name, z.union([z.string(), z.int(), z.boolean()]));
}

const peers = passedOnList;
const server = z.strictObject({ to: peers, ports: z.array(positive).min(1) });
const parties = { clients: peers, monitoring: peers, keda: peers, dns: peers, nats: server, redis: server, s3: server };

const ofPods = { resources: passedOn, nodeSelector: labels, tolerations: passedOnList, podAnnotations: labels };
const serviceTypes = ['ClusterIP', 'NodePort', 'LoadBalancer'];

/** @param more further fields */
function autoscaling(more = {}) {
  const replicas = { minReplicas: positive, maxReplicas: positive };
  return z.strictObject({ enabled: z.boolean(), ...replicas, ...more, cpuPercent: positive });
}

const ingress = z.strictObject({
  replicas: natural,
  settings: settings(plainSettings('ingress')),
  secrets: z.partialRecord(z.enum(secretSettings('ingress')), secretKey),
  secretEnv: z.record(variable, secretKey),
  natsCredentials: optionalSecretKey,
  publicUrl: z.string().regex(/^(https?:\/\/\S+)?$/),
  trustedProxies: z.array(z.string()),
  drainSeconds: natural,
  leaveSeconds: positive,
  autoscaling: autoscaling({ openRequests: natural }),
  service: z.strictObject({ type: z.enum(serviceTypes), port: positive, annotations: labels }),
  httpRoute: z.strictObject({
    enabled: z.boolean(),
    parentRefs: passedOnList,
    hostnames: z.array(z.string()),
    annotations: labels,
    timeouts: labels.nullable(),
  }),
  ingress: z.strictObject({
    enabled: z.boolean(),
    className: z.string(),
    hosts: z.array(z.strictObject({ host: z.string().min(1), tlsSecret: z.string().optional() })),
    annotations: labels,
  }),
  ...ofPods,
});

const batchRunner = z.strictObject({
  enabled: z.boolean(),
  replicas: natural,
  settings: settings(plainSettings('batch')),
  secrets: z.partialRecord(z.enum(secretSettings('batch')), secretKey),
  natsCredentials: optionalSecretKey,
  autoscaling: autoscaling(),
  ...ofPods,
});

/** Fields of every group of workers and of `workerDefaults`. */
const groupFields = {
  image: z.string().optional(),
  replicas: natural.optional(),
  drainSeconds: natural.optional(),
  autoscaling: z
    .strictObject({
      enabled: z.boolean().optional(),
      minReplicas: natural.optional(),
      maxReplicas: positive.optional(),
      target: positive.optional(),
      pollingSeconds: positive.optional(),
      cooldownSeconds: natural.optional(),
    })
    .optional(),
  internet: z.boolean().optional(),
  egress: passedOnList.optional(),
  sidecars: z.array(z.looseObject({ name: z.string().min(1) })).optional(),
  volumes: passedOnList.optional(),
  volumeMounts: passedOnList.optional(),
  resources: passedOn.optional(),
  nodeSelector: labels.optional(),
  tolerations: passedOnList.optional(),
  podAnnotations: labels.optional(),
};

function group(tier: Tier) {
  const names = secretSettings(tier);
  const runsOthers = tier === 'cli' || tier === 'tools';
  return z.strictObject({
    tier: z.literal(tier),
    settings: settings(plainSettings(tier)).optional(),
    ...(names.length > 0 ? { secrets: z.partialRecord(z.enum(names), secretKey).optional() } : {}),
    ...(runsOthers ? { secretEnv: z.record(variable, secretKey).optional() } : {}),
    natsCredentials: optionalSecretKey.optional(),
    ...groupFields,
  });
}

const groupName = z.string().regex(/^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/);

/** values.yaml, and what overrides it. */
export const valuesSchema = z.strictObject({
  image: z.strictObject({
    repository: z.string().min(1),
    tag: z.string(),
    digest: z.string().regex(/^(sha256:[0-9a-f]{64})?$/),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
    pullSecrets: z.array(z.string()),
  }),
  nats: z.strictObject({ url: bareAddress, caSecret: optionalSecretKey }),
  redis: z.strictObject({ urlSecret: optionalSecretKey, url: bareAddress, caSecret: optionalSecretKey }),
  settings: settings(commonSettings()),
  routerConfig: passedOn,
  ingress,
  batchRunner,
  workers: z.record(groupName, z.union(tiers.map(group))),
  workerDefaults: z.strictObject(groupFields),
  setup: z.strictObject({ enabled: z.boolean() }),
  networkPolicy: z.strictObject({ enabled: z.boolean(), ...parties, egress: passedOnList }),
  monitoring: z.strictObject({
    enabled: z.boolean(),
    labels,
    intervalSeconds: positive,
    rules: z.boolean(),
    dashboards: z.boolean(),
  }),
  /** Set by a parent chart. */
  global: passedOn.optional(),
});

/** The text of values.schema.json, in draft 7, which every Helm supports. */
export function valuesSchemaText(): string {
  return `${JSON.stringify(z.toJSONSchema(valuesSchema, { target: 'draft-7', io: 'input', reused: 'ref' }), null, 2)}\n`;
}
