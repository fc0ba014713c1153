import { setTimeout as sleep } from 'node:timers/promises';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';
import { runWorker } from '#shared/worker/run-worker.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';
import { readRegistry } from '#shared/registry/read-registry.ts';
import { toolsWorkerConfig } from './config.ts';
import { createHandleJob } from './handle-job.ts';
import { readMcpConfig, readMcpServers } from '#shared/registry/mcp-servers.ts';
import { LinkedServers } from './mcp/linked-servers.ts';
import { McpLink, addServerMetrics } from './mcp/mcp-link.ts';
import { ToolFolder } from './own/tool-folder.ts';
import { ToolBreakers, addFailingToolsMetric } from './tool-breakers.ts';
import { ToolSet } from './tool-set.ts';
import { shippedTools } from './tools/shipped-tools.ts';

/** Maximum milliseconds that the worker waits for its MCP servers before it announces its tools. Most servers start within this time. */
const maxStartWaitMs = 3_000;

/**
 * The texts of one call may use the memory limit divided by this number. They are in memory many times while the input is checked and
 * written for a server.
 */
const callMemoryDivisor = 16;

/** Maximum bytes of the output of a tool, including images in base64. */
const maxOutputBytes = 8 * 1024 * 1024;

/** Bytes that an MCP message may have in addition to a tool's output. */
const messageMarginBytes = 64 * 1024;

await runWorker('tools', toolsWorkerConfig, async ({ config, environment, log, releases, admin, announce }) => {
  const configuredServers = {
    ...readRegistry(config.ROUTER_CONFIG).mcpServers,
    ...(config.MCP_CONFIG === undefined ? {} : readMcpConfig(config.MCP_CONFIG)),
  };
  const mcp = readMcpServers(configuredServers, environment);
  for (const { name, reason } of mcp.refused) log.error({ server: name, reason }, 'an MCP server is left out');

  let tools: ToolSet | undefined;
  const onChange = (): void => {
    if (tools?.refresh()) announce();
  };
  const folder = config.TOOLS_DIR === undefined ? undefined : new ToolFolder(config.TOOLS_DIR, log);
  if (folder) releases.add('folder of tools', () => folder.close());
  await folder?.start(onChange);
  const maxMessageBytes = maxOutputBytes + messageMarginBytes;
  const [linkedEntries, sharedEntries] = [
    mcp.servers.filter(({ kind }) => kind === 'oauth'),
    mcp.servers.filter(({ kind }) => kind !== 'oauth'),
  ];
  const linkedServers = new LinkedServers(linkedEntries, maxMessageBytes, log);
  const links = sharedEntries.map((entry) => new McpLink(entry, log, maxMessageBytes, onChange));
  addServerMetrics(admin.registry, () => links);
  releases.add('MCP servers', async () => {
    await Promise.all(links.map((link) => link.close()));
  });
  await waitForFirstTries(links);
  const toolSet = new ToolSet([...(folder ? [folder] : []), shippedTools, ...links], log, linkedServers.infos);
  tools = toolSet;
  const toolBreakers = new ToolBreakers(log, announce);
  releases.add('circuit breakers of tools', () => toolBreakers.close());
  addFailingToolsMetric(admin.registry, () => toolBreakers.failing);

  return {
    kind: 'tools',
    formats: [toolsFormat.name],
    handler: toolBreakers.limitCalls(
      createHandleJob({
        tools: toolSet,
        linkedServers,
        timeoutMs: config.TOOL_TIMEOUT_MS,
        maxCallBytes: computeMemoryShare(callMemoryDivisor, process.constrainedMemory()),
        maxOutputBytes,
      }),
    ),
    facts: () => ({
      models: [],
      tools: toolBreakers.selectAccepting(toolSet.infos),
      slots: config.SLOTS,
      accepting: true,
      reason: describeFailing(toolBreakers.failing),
    }),
  };
});

/**
 * Returns the reason to announce while some tools accept no calls. The worker itself does not count as failing, because it accepts calls of
 * other tools.
 */
function describeFailing(failing: readonly string[]): string | undefined {
  return failing.length === 0 ? undefined : `tools failing: ${failing.join(', ')}`.slice(0, 100);
}

async function waitForFirstTries(links: readonly McpLink[]): Promise<void> {
  const timer = new AbortController();
  const timeLimit = sleep(maxStartWaitMs, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([Promise.all(links.map((link) => link.firstTry)), timeLimit]);
  timer.abort();
}
