import { isReady, type CloudProvider } from './cloud-workers.ts';
import type { Engine } from './find-engines.ts';

/** What the first lines of a running cluster tell. */
export interface WelcomeFacts {
  /** `http://host:port` */
  baseUrl: string;
  chatFamily: string;
  messagesFamily: string;
  metricsUrl: string;
  /** The raw key, on the very first start only. */
  newKey: string | undefined;
  /** The router keys there are, in their recognisable short form. */
  maskedKeys: readonly string[];
  engines: readonly Engine[];
  providers: readonly CloudProvider[];
  /** False when no worker has shown up yet. */
  serving: boolean;
}

/** The text that `rtr up` prints when the cluster is ready. */
export function welcome(facts: WelcomeFacts): string {
  const { baseUrl, chatFamily, messagesFamily, metricsUrl, newKey, maskedKeys, engines, providers, serving } = facts;
  const chatUrl = `${baseUrl}/api/${chatFamily}`;
  const key = newKey
    ? `${newKey}\n            shown only now; another one: npx rtr keys create --name <name>`
    : `${maskedKeys.join(', ') || 'all revoked'}\n            another one: npx rtr keys create --name <name>`;
  const engineLines =
    engines.length > 0
      ? engines.map(({ origin, url }) => `${url} (${origin})`)
      : [
          `${providers.some(isReady) ? 'none' : 'the demo engine'}: no local engine was found; one that is started later is picked up`,
        ];
  const providerLines = providers.map(({ title, keyVariable, missing }) =>
    missing.length === 0
      ? `${title} (by ${keyVariable})`
      : `${title} not yet: ${keyVariable} is set, ${missing.join(' and ')} not`,
  );
  return [
    '',
    'Model Router is up.',
    '',
    `  base URL  ${chatUrl}   for OpenAI clients`,
    `            ${baseUrl}/api/${messagesFamily}   for Anthropic clients`,
    `            ${baseUrl}/api/tools/mcp   for MCP clients`,
    `  key       ${key}`,
    `  engines   ${engineLines.join('\n            ')}`,
    ...(providerLines.length > 0 ? [`  cloud     ${providerLines.join('\n            ')}`] : []),
    `  metrics   ${metricsUrl}`,
    ...(serving ? [] : ['', '  No worker serves yet: its engine or provider does not answer.']),
    '',
    newKey ? 'Try it:' : 'Try it, with your key in RTR_KEY:',
    '',
    `  curl ${chatUrl}/chat/completions \\`,
    `    -H "Authorization: Bearer ${newKey ?? '$RTR_KEY'}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "auto", "messages": [{"role": "user", "content": "Hello!"}]}'`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}
