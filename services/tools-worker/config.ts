import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { workerSettings } from '#shared/worker/worker-settings.ts';

export const toolsWorkerConfig = z.object({
  MCP_CONFIG: setting.optionalText('JSON file with MCP servers, in the form `{"mcpServers": {…}}`'),
  ROUTER_CONFIG: setting.optionalText('Registry in YAML, which may hold MCP servers as `mcpServers`'),
  TOOLS_DIR: setting.optionalText('Folder of TypeScript files with one tool each; changed files are loaded again'),
  SLOTS: setting.integer('Maximum number of tools that run at once', 32, 1, 1024),
  TOOL_TIMEOUT_MS: setting.integer('Timeout for the result of a tool, in milliseconds', 60_000, 50, 3_600_000),
  DRAIN_MS: setting.integer(
    'Time for running tools to finish when the worker stops, in milliseconds',
    30_000,
    0,
    3_600_000,
  ),
  ...workerSettings,
});

export type ToolsWorkerConfig = z.output<typeof toolsWorkerConfig>;
