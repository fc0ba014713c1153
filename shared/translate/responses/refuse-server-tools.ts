import { unsupportedInChat } from '../unsupported.ts';
import type { FlatTools, ServerTool } from './flatten-tools.ts';

/**
 * Refuses the tools of a request that would run on the server, with two exceptions: a web search without access to the web, which searches
 * its vendor's cache, and a web search beside tools of the client. Codex offers one or the other in every request, depending on whether it
 * may use the network.
 * @throws RouterError `unsupported_parameter` that names the first refused tool
 */
export function refuseServerTools({ hosted, tools }: Pick<FlatTools, 'hosted' | 'tools'>): void {
  const refused = hosted.find(({ tool }) => !(isWebSearch(tool) && (isOffline(tool) || tools.length > 0)));
  if (refused) throw unsupportedInChat(`${refused.param}.type`, `tools of type '${refused.tool.type}'`);
}

function isWebSearch({ type }: ServerTool['tool']): boolean {
  return type.startsWith('web_search');
}

function isOffline(tool: ServerTool['tool']): boolean {
  return tool['external_web_access'] === false;
}
