import type { z } from 'zod';
import type { Tier } from '#shared/core/tier.ts';
import { batchRunnerConfig } from '#services/batch-runner/config.ts';
import { cliWorkerConfig } from '#services/cli-worker/config.ts';
import { cloudWorkerConfig } from '#services/cloud-worker/config.ts';
import { presets } from '#services/cloud-worker/providers/presets.ts';
import { gpuWorkerConfig } from '#services/gpu-worker/config.ts';
import { ingressConfig } from '#services/ingress/config.ts';
import { toolsWorkerConfig } from '#services/tools-worker/config.ts';

/** The settings of `rtr worker <kind>`. */
export const workerConfigs: Record<Tier | 'batch', z.ZodObject> = {
  gpu: gpuWorkerConfig,
  cli: cliWorkerConfig,
  cloud: cloudWorkerConfig,
  tools: toolsWorkerConfig,
  batch: batchRunnerConfig,
};

/** Settings that values never contain: the chart derives them from other values, they belong to the pod, or they name a folder that none has. */
const setByTheChart = new Set(
  `PORT HOST ADMIN_PORT ADMIN_HOST WORKER_ID LEAVE_MS DRAIN_MS PUBLIC_URL TRUSTED_PROXIES ROUTER_CONFIG
  CREDENTIALS_DIR NATS_URL NATS_CREDENTIALS NATS_CA REDIS_URL REDIS_CA`.split(/\s+/),
);

const ofS3 = ['FILES_S3_ACCESS_KEY_ID', 'FILES_S3_SECRET_ACCESS_KEY'];
/** Settings that are secrets: values only reference them. */
const secrets = new Set(['ENGINE_API_KEY', 'PROVIDER_KEY', 'SEAL_SECRET', 'SMTP_URL', ...ofS3]);

/** Variables that a cloud provider reads in addition to its key. */
const providerVariables = Object.values(presets).flatMap(({ needs }) => needs);

/** What of the chart has settings: a tier of workers, or another part. */
export type ChartPart = Tier | 'ingress' | 'batch';

/** Names that a part's `settings` accept in the chart's values. */
export function plainSettings(part: ChartPart): string[] {
  const names = configuredNames(part).filter((name) => !setByTheChart.has(name) && !secrets.has(name));
  const further = part === 'cloud' ? [...providerVariables, 'GOOGLE_APPLICATION_CREDENTIALS'] : [];
  return [...new Set([...names, ...further])].toSorted();
}

/** Names that a part's `secrets` accept. */
export function secretSettings(part: ChartPart): string[] {
  return configuredNames(part).filter((name) => secrets.has(name));
}

/** Settings of all parts. */
export function commonSettings(): string[] {
  const [first = [], ...others] = (['ingress', 'batch', 'gpu', 'cli', 'cloud', 'tools'] as const).map(plainSettings);
  return first.filter((name) => others.every((names) => names.includes(name)));
}

function configuredNames(part: ChartPart): string[] {
  const configs: Record<ChartPart, z.ZodObject> = { ingress: ingressConfig, ...workerConfigs };
  return Object.keys(configs[part].shape);
}
