import type { HostedKind } from '#shared/core/hosted-kind.ts';
import { isJsonObject } from '#shared/core/json.ts';
import type { HostedTool } from '../../hosted/hosted-request.ts';
import type { MessagesRequest, MessagesTool } from '../request.ts';
import { createDomainFilter, pickToolHints } from '../../hosted/domain-filter.ts';

/** Matches the types of hosted tools, which end with a date, such as `web_search_20250305` (Anthropic API reference, "Tools"). */
const datedType = /^(?<kind>web_search|web_fetch)_\d+$/;

/** Returns the kind of a hosted tool that the router can run; undefined for any other tool. */
export function detectHostedKind({ type }: MessagesTool): Extract<HostedKind, 'web_search' | 'web_fetch'> | undefined {
  const kind = datedType.exec(type ?? '')?.groups?.['kind'];
  return kind === 'web_search' || kind === 'web_fetch' ? kind : undefined;
}

export function findHostedTools(request: MessagesRequest): HostedTool[] {
  const { tools } = request;
  return (Array.isArray(tools) ? tools : []).flatMap((tool, at): HostedTool[] => {
    const kind = isJsonObject(tool) ? detectHostedKind(tool) : undefined;
    if (kind === undefined) return [];
    const { type, max_uses: maxUses } = tool;
    return [
      {
        kind,
        title: type ?? kind,
        param: `tools.${at}.type`,
        maxUses: typeof maxUses === 'number' ? maxUses : undefined,
        allowsUrl: createDomainFilter(tool['allowed_domains'], tool['blocked_domains']),
        hints: pickToolHints(tool),
      },
    ];
  });
}
