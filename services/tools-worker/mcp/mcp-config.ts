import { readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { ConfigError, type Environment } from '#shared/core/load-config.ts';
import { expandVariables } from './expand-variables.ts';

const texts = z.record(z.string(), z.string());

const stdioServer = z.looseObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Added to the few variables that every server gets. */
  env: texts.default({}),
  cwd: z.string().optional(),
});

const httpServer = z.looseObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.default({}),
});

const file = z.looseObject({ mcpServers: z.record(z.string().min(1), z.looseObject({})) });

/** How to reach one MCP server. */
export type McpServerEntry = { name: string } & (
  | { kind: 'stdio'; server: z.output<typeof stdioServer> }
  | { kind: 'http'; server: z.output<typeof httpServer> }
);

export interface McpConfig {
  servers: McpServerEntry[];
  /** Entries that cannot be used, and why: they do not keep the others from working. */
  refused: { name: string; reason: string }[];
}

/**
 * Reads a file in the form that MCP clients share: `{"mcpServers": {"name": {"command", "args", "env"} | {"url", "headers"}}}`.
 * `${NAME}` and `${NAME:-default}` in any text stand for variables of the environment. Entries with `"disabled": true`
 * are left out. The router's own YAML file has the same form in it.
 * @throws ConfigError when the file as a whole cannot be used
 */
export function readMcpConfig(path: string, environment: Environment): McpConfig {
  const parsed = file.safeParse(readFile(path));
  if (!parsed.success) {
    throw new ConfigError(`MCP_CONFIG=${path} is not valid: ${sentence(parsed.error)}`);
  }
  const config: McpConfig = { servers: [], refused: [] };
  for (const [name, written] of Object.entries(parsed.data.mcpServers)) {
    if (written['disabled'] === true) continue;
    const entry = readEntry(name, written, environment);
    if (typeof entry === 'string') config.refused.push({ name, reason: entry });
    else config.servers.push(entry);
  }
  return config;
}

/** @returns the entry, or what is wrong with it */
function readEntry(name: string, written: object, environment: Environment): McpServerEntry | string {
  const { value, missing } = expandVariables(written, environment);
  if (missing.length > 0) return `these variables are not set: ${missing.join(', ')}`;
  if ('command' in written) {
    const stdio = stdioServer.safeParse(value);
    return stdio.success ? { name, kind: 'stdio', server: stdio.data } : sentence(stdio.error);
  }
  if (!('url' in written)) return 'it has neither a command nor a url';
  const http = httpServer.safeParse(value);
  return http.success ? { name, kind: 'http', server: http.data } : sentence(http.error);
}

function readFile(path: string): unknown {
  try {
    const text = readFileSync(path, 'utf8');
    return /\.ya?ml$/i.test(path) ? parseYaml(text) : JSON.parse(text);
  } catch (error) {
    throw new ConfigError(
      `MCP_CONFIG=${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function sentence({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}
