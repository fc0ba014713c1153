import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readBrokerAccess } from '#shared/broker/connection/read-broker-access.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { runService } from '#shared/core/run-service.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import { openWorkerAdmin } from '#shared/worker/worker-admin.ts';
import { version } from '#shared/core/version.ts';
import { toolsWorkerConfig } from './config.ts';
import { readRegistry } from '#shared/registry/read-registry.ts';
import { createHandleJob } from './handle-job.ts';
import { readMcpConfig, readMcpServers } from './mcp/mcp-config.ts';
import { McpLink } from './mcp/mcp-link.ts';
import { ToolFolder } from './own/tool-folder.ts';
import { ToolSet } from './tool-set.ts';
import { watchServers } from './watch-servers.ts';
import { shippedTools } from './tools/shipped-tools.ts';

/** Milliseconds that the worker waits for its MCP servers before it announces what it has: most are up by then. */
const gatherMs = 3_000;

/** What an MCP message has around a tool's output. */
const messageMargin = 64 * 1024;

await runService(async (environment, releases) => {
  const config = loadConfig(toolsWorkerConfig, environment);
  const id = config.WORKER_ID ?? `tools-${randomUUID().slice(0, 8)}`;
  const settings = { service: 'tools-worker', level: config.LOG_LEVEL, format: config.LOG_FORMAT };
  const log = createLog(settings).child({ worker: id });
  const tracing = await openTracing({ ...settings, instance: id, environment, log });
  if (tracing) releases.add('traces', () => tracing.close());
  const admin = await openWorkerAdmin({ ...settings, config, log, releases });
  const written = {
    ...readRegistry(config.ROUTER_CONFIG).mcpServers,
    ...(config.MCP_CONFIG === undefined ? {} : readMcpConfig(config.MCP_CONFIG)),
  };
  const mcp = readMcpServers(written, environment);
  for (const { name, reason } of mcp.refused) log.error({ server: name, reason }, 'an MCP server is left out');

  const broker = await connectBroker({ ...readBrokerAccess(config), name: id, prefix: config.RTR_PREFIX, log });
  releases.add('broker', () => broker.nc.close());

  let tools: ToolSet | undefined;
  let worker: Worker | undefined;
  const onChange = (): void => {
    if (tools?.refresh()) worker?.update({ tools: tools.infos });
  };
  const folder = config.TOOLS_DIR === undefined ? undefined : new ToolFolder(config.TOOLS_DIR, log);
  if (folder) releases.add('folder of tools', () => folder.close());
  await folder?.start(onChange);
  const links = mcp.servers.map(
    (entry) => new McpLink({ entry, log, maxMessageBytes: config.TOOL_OUTPUT_BYTES + messageMargin, onChange }),
  );
  watchServers(admin.registry, () => links);
  releases.add('MCP servers', async () => {
    await Promise.all(links.map((link) => link.close()));
  });
  await gathered(links);
  tools = new ToolSet([...(folder ? [folder] : []), shippedTools, ...links], log);

  const started = startWorker({
    broker,
    log,
    id,
    tier: 'tools',
    kind: 'tools',
    formats: ['tools'],
    version,
    coalesceMs: 0,
    meter: admin.metrics,
    tracing,
    handler: createHandleJob({
      tools,
      timeoutMs: config.TOOL_TIMEOUT_MS,
      maxOutputBytes: config.TOOL_OUTPUT_BYTES,
    }),
    models: [],
    tools: tools.infos,
    slots: config.SLOTS,
    accepting: true,
  });
  releases.add('worker', async () => {
    await started.drain(config.DRAIN_MS);
    await started.close();
  });
  worker = started;
  admin.follow(started, broker);
  worker.update({ tools: tools.infos });
  log.info({ tools: tools.infos.length, servers: links.length }, 'tools-worker is ready');
});

async function gathered(links: readonly McpLink[]): Promise<void> {
  const timer = new AbortController();
  const late = sleep(gatherMs, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([Promise.all(links.map((link) => link.firstTry)), late]);
  timer.abort();
}
