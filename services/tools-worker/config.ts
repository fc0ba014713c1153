import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { workerSettings } from '#shared/worker/worker-settings.ts';

/** Every setting of the tools worker. */
export const toolsWorkerConfig = z.object({
  MCP_CONFIG: setting.optionalText('JSON file that names MCP servers in the usual form: {"mcpServers": {…}}'),
  ROUTER_CONFIG: setting.optionalText("The router's YAML file; MCP servers may stand there too, as `mcpServers`"),
  TOOLS_DIR: setting.optionalText('Folder of TypeScript files, each with one tool; loaded again when they change'),
  SLOTS: setting.integer('Tools run at once', 32, 1, 1024),
  TOOL_TIMEOUT_MS: setting.integer('For a tool to give its result', 60_000, 50, 3_600_000),
  TOOL_OUTPUT_BYTES: setting.integer(
    "Largest output of a tool, pictures' base64 included",
    8 * 1024 * 1024,
    1024,
    32 * 1024 * 1024,
  ),
  DRAIN_MS: setting.integer('For running tools to finish when the worker stops', 30_000, 0, 3_600_000),
  ...workerSettings,
});

export type ToolsWorkerConfig = z.output<typeof toolsWorkerConfig>;
