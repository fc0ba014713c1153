import { findOwnCommand } from '../client/lib/own-command.mjs';
import { toConsoleLink } from '../commands/admin-link.ts';
import type { Engine } from './workers/find-engines.ts';
import type { Plan, PlannedWorker } from './workers/plan-workers.ts';

export interface StartSummary {
  /** Such as `http://127.0.0.1:8484`. */
  baseUrl: string;
  consoleUrl: string;
  chatFormat: string;
  metricsUrl: string;
  /** The raw key that this start created; undefined if this start created no key. */
  newKey: string | undefined;
  maskedKeys: readonly string[];
  /** Token of a new link for the first administrator; undefined if an administrator exists. */
  adminToken: string | undefined;
  engines: readonly Engine[];
  plan: Plan;
  /** Whether the demo engine serves, because there is no other engine. */
  usesDemoEngine: boolean;
  /** Whether any worker serves. */
  hasServingWorker: boolean;
}

/** Returns the text that `rtr up` prints when the cluster is ready. */
export function formatStartSummary(facts: StartSummary): string {
  const { baseUrl, chatFormat, metricsUrl, newKey, maskedKeys, engines, plan, usesDemoEngine, hasServingWorker } =
    facts;
  const { consoleUrl, adminToken } = facts;
  const rtr = findOwnCommand();
  const chatUrl = `${baseUrl}/api/${chatFormat}`;
  const key = newKey
    ? `${newKey}\n            shown only now; create another one: ${rtr} keys create --name <name>`
    : `${maskedKeys.join(', ') || 'none that can be used'}\n            create another one: ${rtr} keys create --name <name>`;
  const consoleLine = adminToken
    ? `${toConsoleLink(consoleUrl, adminToken)}\n            open it within 24 hours to become the first administrator; new link: ${rtr} admin link`
    : consoleUrl;
  const engineLines =
    engines.length > 0
      ? engines.map(({ origin, url }) => `${url} (${origin})`)
      : [
          `${usesDemoEngine ? 'the demo engine' : 'none'}: no local engine was found; one that starts later is picked up`,
        ];
  return [
    '',
    'Model Router is up.',
    '',
    `  base URL  ${chatUrl}   for OpenAI clients`,
    `            ${baseUrl}/api/anthropic   for Anthropic clients`,
    `            ${baseUrl}/api/tools/mcp   for MCP clients`,
    `  key       ${key}`,
    `  console   ${consoleLine}`,
    `  engines   ${engineLines.join('\n            ')}`,
    ...listTierLines('cli', plan),
    ...listTierLines('cloud', plan),
    ...listTierLines('tools', plan),
    `  metrics   ${metricsUrl}`,
    ...(hasServingWorker ? [] : ['', '  No worker serves yet: its engine or provider does not answer.']),
    '',
    newKey ? 'Try it:' : 'Try it, with your key in RTR_KEY:',
    '',
    `  curl ${chatUrl}/chat/completions \\`,
    `    -H "Authorization: Bearer ${newKey ?? '$RTR_KEY'}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "auto", "messages": [{"role": "user", "content": "Hello!"}]}'`,
    '',
    'Ctrl-C stops everything. Settings: docs/configuration.md. Endpoints and errors: docs/api.md.',
    '',
  ].join('\n');
}

/** Returns the lines about a tier: its workers, and the programs and providers that were found but cannot be used yet. */
function listTierLines(tier: PlannedWorker['tier'], { ready, unready }: Plan): string[] {
  const details = [...ready, ...unready].filter((worker) => worker.tier === tier).map(({ detail }) => detail);
  return details.length === 0 ? [] : [`  ${tier.padEnd(8)}  ${details.join('\n            ')}`];
}
