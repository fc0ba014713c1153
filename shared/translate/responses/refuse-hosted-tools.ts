import { unsupportedInChat } from '../unsupported.ts';
import type { HostedTool } from './flatten-tools.ts';

/**
 * Refuses the tools of a request that would run on the server. One that does so without access to the web is left out: it searches a
 * cache of its vendor, and Codex offers it in every request.
 * @throws RouterError `unsupported_parameter` that names the first one
 */
export function refuseHostedTools(hosted: readonly HostedTool[]): void {
  for (const { tool, param } of hosted) {
    const isOffline = tool.type.startsWith('web_search') && tool['external_web_access'] === false;
    if (!isOffline) throw unsupportedInChat(`${param}.type`, `tools of type '${tool.type}'`);
  }
}
