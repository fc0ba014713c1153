import type { z } from 'zod';
import { batchRunnerConfig } from '#services/batch-runner/config.ts';
import { cliWorkerConfig } from '#services/cli-worker/config.ts';
import { cloudWorkerConfig } from '#services/cloud-worker/config.ts';
import { demoEngineSettings } from '#services/demo-engine/config.ts';
import { gpuWorkerConfig } from '#services/gpu-worker/config.ts';
import { ingressConfig } from '#services/ingress/config.ts';
import { adminSettings, boxSettings, clientSettings, upSettings } from '#services/rtr/config.ts';
import { toolsWorkerConfig } from '#services/tools-worker/config.ts';
import { renderTable } from './render-table.ts';

/** Every part that reads settings, by the name in the tables. */
const parts: readonly (readonly [string, z.ZodObject])[] = [
  ['`rtr up`', upSettings],
  ['`rtr join`', boxSettings],
  ['commands', clientSettings],
  ['commands', adminSettings],
  ['ingress', ingressConfig],
  ['batch runner', batchRunnerConfig],
  ['gpu-worker', gpuWorkerConfig],
  ['cli-worker', cliWorkerConfig],
  ['cloud-worker', cloudWorkerConfig],
  ['tools worker', toolsWorkerConfig],
  ['demo engine', demoEngineSettings],
];
const workers = ['gpu-worker', 'cli-worker', 'cloud-worker', 'tools worker'];

/** The settings by topic, in the order of the tables. */
const topics = {
  first:
    'HOST PORT PUBLIC_URL TRUSTED_PROXIES NATS_URL NATS_CREDENTIALS REDIS_URL ROUTER_CONFIG SEAL_SECRET ENGINE_URL',
  engines: 'ENGINE_URLS ENGINE_KIND ENGINE_API_KEY ENGINE_FIELDS',
  providers:
    'PROVIDER PROVIDER_KEY PROVIDER_URL PROVIDER_MODELS PROVIDER_FORMAT PROVIDER_KEY_HEADER PROVIDER_PROMPTS PROVIDER_SERVICE_TIERS',
  agents: 'CLI_KIND CLI_MODELS CLI_COMMAND CLI_ENV CLI_CONTEXT_WINDOW',
  tools: 'MCP_CONFIG TOOLS_DIR TOOL_TIMEOUT_MS OAUTH_NETWORKS',
  requests:
    'SLOTS MAX_BODY_BYTES MAX_QUEUED BODY_TIMEOUT_MS QUEUE_TIMEOUT_MS NO_WORKER_TIMEOUT_MS FIRST_TOKEN_TIMEOUT_MS IDLE_TIMEOUT_MS ANSWER_TIMEOUT_MS TOTAL_TIMEOUT_MS KEEP_ALIVE_MS IDEMPOTENCY_GRACE_MS LEAVE_MS DRAIN_MS',
  stored:
    'STORED_OWNER_BYTES STORED_MAX_BYTES RESPONSES_KEEP_HOURS RECORDINGS RECORDINGS_HOURS USAGE_DAYS USAGE_MAX_REQUESTS USAGE_EXPORT_TEAM BATCH_PRICE_FACTOR',
  files:
    'FILE_MAX_BYTES FILES_OWNER_BYTES FILES_MAX_BYTES FILES_KEEP_DAYS FILES_S3_BUCKET FILES_S3_ENDPOINT FILES_S3_REGION FILES_S3_ACCESS_KEY_ID FILES_S3_SECRET_ACCESS_KEY',
  network: 'CHAT_FAMILY CORS_ORIGINS TLS_FOLDER NATS_RELAY_URL NATS_CA REDIS_CA RTR_PREFIX WORKER_ID CREDENTIALS_DIR',
  operators: 'ADMIN_PORT ADMIN_HOST LOG_LEVEL LOG_FORMAT SMTP_URL MAIL_FROM WEBHOOK_NETWORKS',
  commands: 'RTR_URL RTR_KEY RTR_ADMIN_TOKEN',
  demo: 'DEMO_MODELS DEMO_OPERATIONS DEMO_CONTEXT_WINDOW DEMO_SLOTS DEMO_OPTIONS',
} as const;

type Topic = keyof typeof topics;

/** A table of the settings of each topic. */
export const settingTables: Record<string, () => string> = Object.fromEntries(
  (Object.keys(topics) as Topic[]).map((topic) => [`settings:${topic}`, () => renderSettings(topic)]),
);

/** Renders a row for each setting, or several where parts differ in its default or meaning. */
function renderSettings(topic: Topic): string {
  const rows = topics[topic].split(' ').flatMap((name) => {
    const uses = parts.flatMap(([part, { shape }]) => {
      const field = shape[name] as z.ZodType | undefined;
      if (!field) return [];
      const fallback = JSON.stringify(field.safeParse(undefined).data)?.replaceAll('"', '') ?? '';
      return [
        {
          part,
          fallback: fallback === '' || fallback === '[]' ? '–' : `\`${fallback}\``,
          doc: field.description ?? '',
        },
      ];
    });
    if (uses.length === 0) throw new Error(`${name} is no setting`);
    return Array.from(Map.groupBy(uses, ({ fallback, doc }) => `${fallback} ${doc}`).values(), ([first, ...others]) => [
      `\`${name}\``,
      nameParts([first, ...others].flatMap((use) => use?.part ?? [])),
      first?.fallback ?? '',
      first?.doc ?? '',
    ]);
  });
  return renderTable(['variable', 'of', 'default', 'meaning'], rows);
}

function nameParts(found: readonly string[]): string {
  const names = [...new Set(found)];
  const isEveryWorker = workers.every((worker) => names.includes(worker));
  const shown = isEveryWorker ? [...names.filter((name) => !workers.includes(name)), 'workers'] : names;
  return shown.join(', ');
}

/** The names in the tables, and all settings of all parts. */
export const [shownSettings, allSettings]: [string[], Set<string>] = [
  Object.values(topics).flatMap((names) => names.split(' ')),
  new Set(parts.flatMap(([, { shape }]) => Object.keys(shape))),
];
